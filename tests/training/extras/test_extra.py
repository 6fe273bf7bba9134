"""An extra of one's own: trained, saved, resumed and recorded by a loop that knows nothing of it."""

import dataclasses
from typing import ClassVar

import pytest
import torch
from torch import nn

from samekind.errors import TrainingError
from samekind.training import Nobody, Record, Term, train
from samekind.training.checkpoints import load_checkpoint
from samekind.training.extras import BUILDERS, Cost, build_extras, parameter_groups_of


class Perturbed(nn.Module):
    """A weight for the objective at items moved against it, and the count of the steps it saw."""

    name, rate, watched, reads_features = "perturbed", 0.5, ("moved",), False

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(0.1))
        self.register_buffer("steps", torch.tensor(0))

    def cost(self, step):
        x = step.x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(step.objective(step.forward(x)[0], step.y).total, x)
        z, _ = step.forward(step.x + 0.01 * gradient.sign())
        moved = step.objective(z, step.y).total
        return Cost(self.weight * moved, [moved])

    def settle(self, cost):
        self.steps += 1

    def after_epoch(self, means):
        return {"moved": means[0], "steps": int(self.steps)}


class Looking(nn.Module):
    """Nothing but a look at the embeddings of some steps."""

    name, rate, watched, reads_features = "looking", 0.0, (), False
    seen: ClassVar = []

    def cost(self, step):
        if step.number % 2 == 0:
            self.seen.append((step.z.shape, step.space.prototypes.vectors.shape))
        return Cost(None)

    def settle(self, cost): ...

    def after_epoch(self, means):
        return {}


class Asking(nn.Module):
    """Ten values of the objective a step, and no cost."""

    name, rate, watched, reads_features = "asking", 0.0, (), False
    values: ClassVar = []

    def cost(self, step):
        self.values.append({step.objective(step.z, step.y).total.item() for _ in range(10)})
        return Cost(None)

    def settle(self, cost): ...

    def after_epoch(self, means):
        return {}


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


@pytest.fixture
def perturbed(monkeypatch):
    monkeypatch.setattr("samekind.training.extras.BUILDERS", [*BUILDERS, lambda *_: Perturbed()])


class Stopping(Nobody):
    def epoch(self, entry):
        if entry["epoch"] == 2:
            raise KeyboardInterrupt


@pytest.mark.usefixtures("perturbed")
def test_an_extra_is_trained_saved_resumed_and_recorded(run, items, constant, tmp_path):
    whole = train(run, items, folder=tmp_path / "whole", validate=constant)
    states = load_checkpoint(tmp_path / "whole/last.pt")["states"]
    assert states["perturbed"]["weight"] != 0.1
    assert states["perturbed"]["steps"] == 9
    assert states["optimiser"]["param_groups"][-1]["name"] == "perturbed"
    assert states["optimiser"]["param_groups"][-1]["lr"] == 0.5
    told = Record(tmp_path / "whole/record.jsonl").lines()
    assert [line["perturbed"]["steps"] for line in told] == [3, 6, 9]
    assert not any(name.startswith("perturbed") for name in whole.state_dict())

    with pytest.raises(KeyboardInterrupt):
        train(run, items, folder=tmp_path / "broken", validate=constant, watcher=Stopping())
    again = train(run, items, folder=tmp_path / "broken", validate=constant)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    resumed = load_checkpoint(tmp_path / "broken/last.pt")["states"]["perturbed"]
    assert all(torch.equal(tensor, resumed[name]) for name, tensor in states["perturbed"].items())
    entries = [line["perturbed"] for line in Record(tmp_path / "broken/record.jsonl").lines()]
    assert entries == [line["perturbed"] for line in told]


def test_an_extra_without_a_cost_or_weights_changes_nothing(run, items, constant, tmp_path, monkeypatch):
    alone = train(run, items, folder=tmp_path / "alone", validate=constant)
    monkeypatch.setattr("samekind.training.extras.BUILDERS", [lambda *_: Looking()])
    Looking.seen.clear()
    beside = train(run, items, folder=tmp_path / "beside", validate=constant)
    assert Looking.seen == [((16, 5), (4, 1, 5))] * 5  # steps 0, 2, 4, 6 and 8
    assert all(torch.equal(tensor, beside.state_dict()[name]) for name, tensor in alone.state_dict().items())
    assert all("looking" not in line for line in Record(tmp_path / "beside/record.jsonl").lines())
    assert parameter_groups_of([Looking()]) == []


def test_a_run_is_the_same_however_often_an_extra_asks_for_the_objective(
    run, items, constant, tmp_path, monkeypatch
):
    """With a miner that draws from the run's generator, and dropout of the encoder and of the pairs."""
    mined = Term("pair_likelihood", miner="distance_weighted", mining={"quantity": "negative distance"})
    run = dataclasses.replace(run, terms={**run.terms, "mined": mined})
    run = run.override(["space.similarity.dropout=0.5"])
    alone = train(run, items, folder=tmp_path / "alone", validate=constant)
    monkeypatch.setattr("samekind.training.extras.BUILDERS", [lambda *_: Asking()])
    Asking.values.clear()
    beside = train(run, items, folder=tmp_path / "beside", validate=constant)
    assert [len(values) for values in Asking.values] == [1] * 9
    losses = [
        [line["terms"] for line in Record(tmp_path / name / "record.jsonl").lines()]
        for name in ("alone", "beside")
    ]
    assert losses[0] == losses[1]
    assert all(torch.equal(tensor, beside.state_dict()[name]) for name, tensor in alone.state_dict().items())


def test_an_extra_settles_after_the_optimisers_step(run, items, constant, tmp_path, monkeypatch):
    events = []

    class Settling(Looking):
        def cost(self, step):
            self.weights = list(step.space.parameters())
            self.before = [weight.detach().clone() for weight in self.weights]
            self.returned = Cost(None)
            return self.returned

        def settle(self, cost):
            moved = not all(map(torch.equal, self.before, self.weights))
            events.append((cost is self.returned, moved))

    monkeypatch.setattr("samekind.training.extras.BUILDERS", [lambda *_: Settling()])
    train(run.override(["epochs=1"]), items, folder=tmp_path, validate=constant)
    assert events == [(True, True)] * 3


@pytest.mark.usefixtures("perturbed")
def test_a_number_of_an_extra_that_is_not_finite_stops_the_run(run, items, constant, tmp_path, monkeypatch):
    monkeypatch.setattr(Perturbed, "cost", lambda self, step: Cost(None, [step.z.sum() * torch.nan]))
    with pytest.raises(TrainingError, match='the term "moved" became nan at step 1'):
        train(run, items, folder=tmp_path, validate=constant)


@pytest.mark.usefixtures("perturbed")
def test_extras_come_in_the_order_of_their_builders(run, items):
    from samekind.training import Adversary, build_space

    both = dataclasses.replace(run, adversary=Adversary(hidden=4))
    built = build_extras(both, build_space(both, items), items)
    assert [extra.name for extra in built] == ["adversary", "perturbed"]
    assert [group["name"] for group in parameter_groups_of(built)] == ["adversary", "perturbed"]
