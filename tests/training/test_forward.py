"""The way forward: one pass, and the same numbers through Fabric's module as past it."""

import dataclasses
import json
import subprocess
import sys

import pytest
import torch

from samekind.training import Adversary, Nobody, launch
from samekind.training.forward import forward_pass
from samekind.training.loop import Trainer
from samekind.training.run_folder import RunFolder


def trained(run, items, folder, *, direct, precision):
    """The terms of three steps, and the weights after them."""
    fabric = launch("cpu", precision)
    trainer = Trainer(run, items, RunFolder(folder), fabric, lambda space: {"eer": 0.5}, Nobody(), None)
    learner = trainer.learner
    learner.forward = forward_pass(fabric, learner.wrapped, direct=direct)
    batches = torch.arange(48).split(16)
    costs = [learner.step(items.inputs[rows], items.labels[rows], number=0) for rows in batches]
    return costs, trainer.space.state_dict()


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
@pytest.mark.parametrize("adversary", [None, Adversary(hidden=8)], ids=["alone", "adversary"])
def test_the_wrapped_and_the_direct_path_give_the_same_numbers(run, items, tmp_path, precision, adversary):
    changed = dataclasses.replace(run, adversary=adversary)
    wrapped = trained(changed, items, tmp_path / "wrapped", direct=False, precision=precision)
    direct = trained(changed, items, tmp_path / "direct", direct=True, precision=precision)
    assert wrapped[0] == direct[0]
    for name, weights in direct[1].items():
        assert torch.equal(weights, wrapped[1][name]), name


@pytest.mark.parametrize(("processes", "taken"), [(1, "direct"), (2, "wrapped")])
def test_several_processes_go_through_fabrics_module(run, items, tmp_path, processes, taken, monkeypatch):
    fabric = launch("cpu", "32-true")
    trainer = Trainer(run, items, RunFolder(tmp_path), fabric, lambda space: {"eer": 0.5}, Nobody(), None)
    monkeypatch.setattr(type(fabric), "world_size", processes)
    calls = []
    monkeypatch.setattr(
        type(trainer.learner.wrapped), "forward", lambda self, x: calls.append(x) or self.module(x)
    )
    z, outputs = forward_pass(fabric, trainer.learner.wrapped)(items.inputs[:4])
    assert z.shape == (4, 5)
    assert outputs == {}
    assert len(calls) == (taken == "wrapped")


TWO_PROCESSES = """
import json, sys
import torch
from samekind.data import clusters
from samekind.training import Run, build_space
from samekind.training.fabric import Fabric
from samekind.training.learner import Learner

def gradients(fabric, settings, rows, path):
    torch.set_num_threads(1)
    run, items = Run.from_dict(settings), clusters(classes=4, items=12, dimension=6, seed=1)
    torch.manual_seed(0)
    learner = Learner(run, build_space(run, items), items, fabric, batches=3)
    rows = slice(*rows[fabric.global_rank])
    learner.step(items.inputs[rows], items.labels[rows], number=0)
    weights = learner.wrapped.module.named_parameters()
    torch.save({name: weight.grad for name, weight in weights}, f"{path}{fabric.global_rank}.pt")

if __name__ == "__main__":
    settings, folder = json.loads(sys.argv[1]), sys.argv[2]
    for part in ((0, 16), (16, 32)):
        gradients(Fabric(accelerator="cpu", devices=1), settings, [part], f"{folder}/from{part[0]}-")
    both = Fabric(accelerator="cpu", devices=2, strategy="ddp_spawn")
    both.launch(gradients, settings, [(0, 16), (16, 32)], f"{folder}/both-")
"""


@pytest.mark.slow
def test_two_processes_share_the_mean_of_their_gradients(run, tmp_path):
    """Through Fabric's module, the adversary's weights included."""
    plain = ["space.encoder.dropout=0", "space.similarity.dropout=0", "terms.pair.smoothing=0"]
    changed = dataclasses.replace(run.override(plain), adversary=Adversary(hidden=8, dropout=0.0), clip=None)
    script = tmp_path / "two_processes.py"
    script.write_text(TWO_PROCESSES)
    command = [sys.executable, str(script), json.dumps(changed.to_dict()), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    first, second, one, other = (
        torch.load(tmp_path / f"{name}.pt") for name in ("from0-0", "from16-0", "both-0", "both-1")
    )
    for name, gradient in one.items():
        torch.testing.assert_close(gradient, other[name], msg=name)
        torch.testing.assert_close(gradient, (first[name] + second[name]) / 2, msg=name)
    assert any(name.startswith("extras.adversary") for name in one)
