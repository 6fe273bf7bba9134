"""What learns in a run: a step returns what is watched, and the states put a learner back."""

import dataclasses

import pytest
import torch

from samekind.training import Adversary, Term, build_space, launch
from samekind.training.learner import Learner


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
