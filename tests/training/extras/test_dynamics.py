"""Dynamics in a run: what they record is what the step did, and the run does not notice."""

import dataclasses

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.encoders.standing_in import standing_in
from samekind.measures.geometry import DYNAMICS, step_dynamics
from samekind.recipes import few_shot
from samekind.training import Nobody, Record, train
from samekind.training.checkpoints import load_checkpoint
from samekind.training.extras import BUILDERS, Cost, dynamics
from samekind.training.extras.dynamics import Dynamics, embedded_as_trained, half_of_each_class


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


@pytest.fixture
def encoder():
    """With all that moves or draws in a forward pass."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 5))


def test_embeddings_are_those_of_training_and_nothing_moves(encoder):
    x = torch.randn(16, 6, generator=torch.Generator().manual_seed(0))
    encoder.eval()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    state = torch.get_rng_state()
    z = embedded_as_trained(encoder, x, seed=3)
    assert torch.equal(torch.get_rng_state(), state)
    assert not encoder.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())
    assert torch.equal(z, embedded_as_trained(encoder, x, seed=3))
    assert not torch.equal(z, embedded_as_trained(encoder, x, seed=4))  # dropout
    with torch.random.fork_rng():
        torch.manual_seed(3)
        torch.testing.assert_close(z, encoder.train()(x).detach())


def test_a_mixed_precision_does_not_reach_them(encoder):
    x = torch.randn(16, 6, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = embedded_as_trained(encoder, x)
    assert z.dtype == torch.float32
    assert torch.equal(z, embedded_as_trained(encoder, x))


def test_a_compiled_encoder_computes_them_as_it_is_written(encoder):
    compiled = []

    def counted(graph, _inputs):
        compiled.append(graph)
        return graph.forward

    x = torch.randn(16, 6, generator=torch.Generator().manual_seed(0))
    expected = embedded_as_trained(encoder, x)
    with standing_in(encoder, torch.compile(encoder.forward, dynamic=False, backend=counted)):
        assert torch.equal(embedded_as_trained(encoder, x), expected)
        assert not compiled
        encoder(x)
    assert compiled


def test_half_of_each_class_stands_for_it():
    labels = torch.tensor([4, 0, 4, 4, 0, 4, 9])
    assert half_of_each_class(labels).tolist() == [True, True, True, False, False, False, False]


class Watching(nn.Module):
    """The same numbers by copies of the encoder and of all items of a step."""

    name, rate, watched, reads_features = "watching", 0.0, (), False

    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def cost(self, step):
        return Cost(None, carried=(step, self.embedded(step)))

    def settle(self, cost):
        step, before = cost.carried
        support = half_of_each_class(step.y)
        self.seen.append(step_dynamics(before, self.embedded(step), step.y, support).tolist())

    def embedded(self, step):
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(step.number)
            return step.space.encoder(step.x)

    def after_epoch(self, means):
        return {}


def test_the_record_has_every_second_step(run, items, constant, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("samekind.training.extras.BUILDERS", [*BUILDERS, lambda *_: Watching(seen)])
    watched = dataclasses.replace(run, dynamics=2)
    train(watched, items, folder=tmp_path, validate=constant)
    entries = [line["dynamics"] for line in Record(tmp_path / "record.jsonl").lines()]
    assert [entry["steps"] for entry in entries] == [[2], [4, 6], [8]]
    for place, name in enumerate(DYNAMICS):
        values = [value for entry in entries for value in entry[name]]
        assert values == pytest.approx([seen[step - 1][place] for step in (2, 4, 6, 8)])


def test_a_run_is_the_same_with_its_dynamics(run, items, constant, tmp_path):
    spaces = [
        train(
            dataclasses.replace(run, dynamics=every), items, folder=tmp_path / str(every), validate=constant
        )
        for every in (0, 1)
    ]
    for name, tensor in spaces[0].state_dict().items():
        assert torch.equal(tensor, spaces[1].state_dict()[name]), name
    assert "dynamics" not in Record(tmp_path / "0/record.jsonl").lines()[0]
    assert "dynamics" not in load_checkpoint(tmp_path / "0/last.pt")["states"]


class Stopping(Nobody):
    """Stops a run in the middle of its second epoch."""

    steps = 0

    def step(self, *, loss, items_per_second):
        self.steps += 1
        if self.steps == 5:
            raise KeyboardInterrupt


def test_a_stopped_run_goes_on_with_what_its_epoch_had_recorded(run, items, constant, tmp_path):
    run = dataclasses.replace(run, dynamics=1, checkpoint_steps=1)
    train(run, items, folder=tmp_path / "whole", validate=constant)
    with pytest.raises(KeyboardInterrupt):
        train(run, items, folder=tmp_path / "broken", validate=constant, watcher=Stopping())
    train(run, items, folder=tmp_path / "broken", validate=constant)
    whole, broken = (
        [line["dynamics"] for line in Record(tmp_path / name / "record.jsonl").lines()]
        for name in ("whole", "broken")
    )
    assert whole == broken
    assert [entry["steps"] for entry in whole] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_what_is_undefined_is_null_in_the_record():
    recorder = Dynamics(every=1)
    recorder.steps, recorder.values = [1], [torch.tensor([torch.nan, 1.0, 2.0, 0.5])]
    assert recorder.after_epoch([]) == {
        "steps": [1],
        "norm_ratio": [None],
        "con_alpha": [1.0],
        "div_alpha": [2.0],
        "con_div": [0.5],
    }
    assert recorder.after_epoch([]) == {}


@pytest.mark.parametrize("by", ["proto", "nearest"])
def test_of_tasks_the_examples_stand_for_their_class(by, tmp_path, monkeypatch):
    """The layout of the batch says which; several tasks of a step are apart."""
    items = clusters(classes=5, items=8, dimension=6, seed=1)
    run = few_shot(items, by=by, way=3, shot=2, queries=3, tasks=2)
    run = run.override(["epochs=1", "batches.steps=2", "dynamics=2"])
    calls = []

    def noted(*arguments, **named):
        calls.append((arguments, named))
        return step_dynamics(*arguments, **named)

    monkeypatch.setattr(dynamics, "step_dynamics", noted)
    measures = {"eer": 0.5, "recall@1": 0.5}
    train(run, items, folder=tmp_path, validate=lambda space: measures, device="cpu")
    [((_, _, _, support), named)] = calls
    assert support.tolist() == [True, True, False, False, False] * 6
    assert named["episodes"].tolist() == [0] * 15 + [1] * 15
    assert named["nearest"] == (by == "nearest")
