"""What learns in a run: a step returns what is watched, and the states put a learner back."""

import dataclasses

import pytest
import torch

from samekind.training import Adversary, Later, Term, build_space, launch
from samekind.training.learner import Learner
from samekind.training.objective import objective


@pytest.fixture
def learner(run, items):
    changed = dataclasses.replace(run, adversary=Adversary(hidden=4), memory=20)
    changed = dataclasses.replace(
        changed, terms={**run.terms, "past": Term("pair_likelihood", against="memory")}
    )

    def make():
        torch.manual_seed(0)
        return Learner(changed, build_space(changed, items), items, launch("cpu", "32-true"), batches=3)

    return make


def test_a_step_returns_what_is_watched(learner, items):
    first = learner()
    assert first.names == ["class", "pair", "auxiliary", "past"]
    assert first.watched == [*first.names, "adversary", "adversary, plain"]
    with first.training():
        numbers = first.step(items.inputs[:16], items.labels[:16], number=0)
    assert len(numbers) == len(first.watched)
    assert not any(number.requires_grad for number in numbers)
    entries = first.after_epoch([number.item() for number in numbers])
    assert entries["adversary"]["plain_loss"] == numbers[-1].item()


def test_the_states_put_a_learner_back(learner, items):
    first, second = learner(), learner()
    first.step(items.inputs[:16], items.labels[:16], number=0)
    states = first.state_dict()
    names = {"space", "optimiser", "scheduler", "precision", "memory", "adversary", "generator"}
    assert states.keys() == names
    second.load_state_dict(states)
    following = []
    for learning in (first, second):
        torch.manual_seed(1)
        following.append(learning.step(items.inputs[16:32], items.labels[16:32], number=1))
    assert following[0] == following[1]


def test_a_weight_that_is_not_finite_is_named(learner):
    broken = learner()
    assert broken.not_finite() == []
    with torch.no_grad():
        broken.extras[0].layers[0].bias[0] = torch.inf
    assert broken.not_finite() == ["adversary"]


@pytest.fixture
def drawing(run, items):
    """A learner whose objective draws: a miner from the generator, dropout from the global random state."""
    torch.manual_seed(0)
    mined = Term("pair_likelihood", miner="distance_weighted", mining={"quantity": "negative distance"})
    changed = dataclasses.replace(run, terms={**run.terms, "mined": mined})
    changed = changed.override(["space.similarity.dropout=0.5"])
    return Learner(changed, build_space(changed, items), items, launch("cpu", "32-true"), batches=3)


def test_two_calls_of_the_value_are_equal_and_move_no_random_state(drawing, items):
    z = torch.randn(16, 5, generator=torch.Generator().manual_seed(0))
    y = items.labels[:16]
    states = torch.get_rng_state(), drawing.generator.get_state()
    with drawing.training():
        first, second = (drawing.value(z, y).costs for _ in range(2))
        assert first == second
        assert torch.equal(torch.get_rng_state(), states[0])
        assert torch.equal(drawing.generator.get_state(), states[1])
        moved = objective(drawing.space, z, y, drawing.context)
        assert moved.costs == first
        assert not torch.equal(torch.get_rng_state(), states[0])  # a step draws
        assert not torch.equal(drawing.generator.get_state(), states[1])
        assert objective(drawing.space, z, y, drawing.context).costs["mined"] != first["mined"]


def test_an_error_in_the_value_moves_no_random_state(drawing, items, monkeypatch):
    def failing(*_):
        torch.rand(1)
        torch.rand(1, generator=drawing.generator)
        raise ValueError("broken")

    monkeypatch.setattr("samekind.training.learner.objective", failing)
    states = torch.get_rng_state(), drawing.generator.get_state()
    with pytest.raises(ValueError, match="broken"):
        drawing.value(torch.zeros(2, 5), items.labels[:2])
    assert torch.equal(torch.get_rng_state(), states[0])
    assert torch.equal(drawing.generator.get_state(), states[1])


def test_an_epoch_begins_with_the_arguments_it_has(run, items):
    growing = dataclasses.replace(
        run.terms["pair"], arguments={"smoothing": 0.0}, later=(Later(1, {"smoothing": 0.4}),)
    )
    changed = dataclasses.replace(run, terms={**run.terms, "pair": growing})
    learner = Learner(changed, build_space(changed, items), items, launch("cpu", "32-true"), batches=3)
    for epoch, smoothing in ((0, 0.0), (1, 0.4)):
        learner.begin_epoch(epoch)
        assert learner.context.terms["pair"].loss.keywords == {"smoothing": smoothing}
