"""The way forward: one pass, and the same numbers through Fabric's module as past it."""

import dataclasses

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
