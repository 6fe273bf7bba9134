"""None of these under attack: the goal's answers are those of `identify`."""

import copy

import pytest
import torch

from samekind.attacks import PGD, PICTURES, Linf
from samekind.attacks.goals import NONE, NoneOfThese
from samekind.errors import SpaceError
from samekind.inference import identify


def answers(space, x, kind=None):
    """Places of the named classes, -1 for none."""
    with torch.no_grad():
        named = identify(space, space.embed(x), kind=kind)
    return torch.tensor([NONE if one.name is None else space.classes.index(one.name) for one in named])


@pytest.mark.parametrize("kind", [None, "cosine", "fitted"])
def test_the_outcomes_are_what_identify_answers(known, kind):
    x = torch.rand(200, 6, generator=torch.Generator().manual_seed(3))
    goal = NoneOfThese(known.space, torch.zeros(200, dtype=torch.long), kind=kind)
    given = goal.outcomes(x, torch.arange(200)).argmax(1)
    expected = answers(known.space, x, kind)
    assert torch.equal(torch.where(given == 4, NONE, given), expected)
    assert {NONE, 0, 1} <= set(expected.tolist())


def test_an_unknown_item_evades_the_answer(known):
    x = torch.rand(60, 6, generator=torch.Generator().manual_seed(4))
    x = x[answers(known.space, x) == NONE]
    attacked = PGD(Linf(0.3), steps=15)(
        NoneOfThese(known.space, torch.full((len(x),), NONE)), x, limits=PICTURES
    )
    assert attacked.succeeded.any()
    assert torch.equal(attacked.succeeded, answers(known.space, attacked.x) != NONE)


def test_the_answer_is_provoked(known):
    right = answers(known.space, known.x) == known.labels
    x, labels = known.x[right], known.labels[right]
    goal = NoneOfThese(known.space, labels, target=torch.full_like(labels, NONE))
    attacked = PGD(Linf(0.3), steps=15)(goal, x, limits=PICTURES)
    assert attacked.succeeded.any()
    assert torch.equal(attacked.succeeded, answers(known.space, attacked.x) == NONE)


def test_a_space_without_a_threshold_is_refused(known):
    space = copy.copy(known.space)
    space.open_set = None
    with pytest.raises(SpaceError, match="no threshold for none of these"):
        NoneOfThese(space, known.labels)
