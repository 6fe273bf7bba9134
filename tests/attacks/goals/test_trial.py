"""Trials under attack, by every kind of score: a success is what the space answers wrongly."""

import pytest
import torch

from samekind.attacks import PGD, PICTURES, Linf
from samekind.attacks.goals import Trials
from samekind.errors import SpaceError

KINDS = ["similarity", "cosine", "fused", "fitted", "normalised"]


def trials(known, kind, **settings):
    """Every item with the next one of its class, then of another class."""
    others = torch.cat([torch.arange(12).roll(-4), torch.arange(12).roll(-1)])
    same = known.labels.repeat(2) == known.labels[others]
    return known.x.repeat(2, 1), Trials(known.space, known.z[others], same, kind=kind, **settings), same


@pytest.mark.parametrize("kind", KINDS)
def test_trials_are_answered_wrongly_after_the_attack(known, kind):
    x, goal, same = trials(known, kind)
    attacked = PGD(Linf(0.25), steps=15)(goal, x, limits=PICTURES)
    with torch.no_grad():
        scores = known.space.score(goal.partners, known.space.embed(attacked.x), kind=kind)
        before = known.space.score(goal.partners, known.space.embed(x), kind=kind)
    accepted = known.space.decisions[kind].accepts(scores)
    assert torch.equal(attacked.succeeded, accepted != same)
    right = known.space.decisions[kind].accepts(before) == same
    assert right.sum() >= 12
    assert attacked.succeeded[right & same].any()
    assert attacked.succeeded[right & ~same].any()
    # An attack on a trial of one class lowers the score, one on a trial of two raises it.
    assert (scores[right & same] < before[right & same]).all()
    assert (scores[right & ~same] > before[right & ~same]).all()


def test_at_the_threshold_a_trial_is_accepted(known):
    x, goal, _ = trials(known, "cosine")
    outcomes = goal.outcomes(x, torch.arange(24)).detach()
    exactly = torch.zeros_like(outcomes[:1])
    assert exactly.argmax(1) == 0
    scores = known.space.score(goal.partners, known.space.embed(x), kind="cosine")
    torch.testing.assert_close(outcomes[:, 0], scores.detach() - known.space.decisions["cosine"].threshold)


def test_the_attacked_item_may_come_first(known):
    x, goal, _ = trials(known, "similarity", attacked="first")
    some = torch.tensor([3, 20])
    expected = known.space.score(known.space.embed(x[some]), goal.partners[some])
    above = goal.outcomes(x[some], some)[:, 0] + known.space.decisions["similarity"].threshold
    torch.testing.assert_close(above, expected)


def test_a_kind_without_a_threshold_is_refused(known):
    with pytest.raises(SpaceError, match='no threshold for the score "cosin"; did you mean "cosine"'):
        Trials(known.space, known.z, known.labels == 0, kind="cosin")
