"""A poisoned prototype: later queries are answered wrongly by the space that enrolled it."""

import copy

import pytest
import torch

from samekind.attacks import PGD, PICTURES, Linf
from samekind.attacks.goals import Enrolments, known_bars
from samekind.decisions import Balance


def sets(known, *, same):
    """Two examples of each class, and five queries of the same class or of the next one."""
    classes = torch.arange(4)
    examples = torch.stack([known.x[known.labels == name][:2] for name in classes])
    asked = classes if same else (classes + 1) % 4
    return examples, torch.stack([known.z[known.labels == name][[2, 0, 1]] for name in asked])


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fitted"])
@pytest.mark.parametrize("same", [True, False])
def test_the_enrolled_mean_answers_wrongly_after_the_attack(known, kind, same):
    examples, queries = sets(known, same=same)
    goal = Enrolments(known.space, queries, torch.full((4,), same), kind=kind)
    attacked = PGD(Linf(0.3), steps=15)(goal, examples, limits=PICTURES)
    assert attacked.x.shape == examples.shape
    assert attacked.succeeded.any()
    decision = known.space.decisions[kind]
    for row in range(4):
        with torch.no_grad():
            mean = known.space.embed(attacked.x[row]).mean(0, keepdim=True)
            scores = known.space.score_enrolled(mean, queries[row], torch.tensor([2]), kind=kind)[0]
        accepted = bool(scores.mean() >= decision.threshold)
        assert bool(attacked.succeeded[row]) == (accepted != same)


def test_a_poisoned_class_against_those_that_are_known(known):
    """Queries of a known class are named as the new class, once its examples were attacked."""
    space = copy.deepcopy(known.space)
    examples, queries = sets(known, same=False)
    goal = Enrolments(
        space,
        queries[:1],
        torch.tensor([False]),
        bars=known_bars(space, queries[:1], kind="cosine"),
        kind="cosine",
    )
    attacked = PGD(Linf(0.6), steps=40, stop=False)(goal, examples[:1], limits=PICTURES)
    assert attacked.succeeded.all()
    named = []
    for x in (examples[0], attacked.x[0]):
        poisoned = copy.deepcopy(space)
        with torch.no_grad():
            poisoned.enroll("new", poisoned.embed(x))
            named.append(poisoned.classify(queries[0], kind="cosine").classes.count("new"))
    assert named[0] < named[1]
    above = goal.above(attacked.x, torch.tensor([0]))
    assert int((above > 0).sum()) == named[1]


def test_the_bars_know_the_bonus_of_enrolled_classes(known):
    space = copy.deepcopy(known.space)
    plain = known_bars(space, known.z[None], kind="cosine")
    space.balances["cosine"] = Balance(0.25, "nothing")
    space.enrolled = ["class 2"]
    scores = space.score_classes(known.z, kind="cosine")
    scores[:, 2] += 0.25
    torch.testing.assert_close(plain[0], known.space.score_classes(known.z, kind="cosine").amax(1))
    torch.testing.assert_close(known_bars(space, known.z[None], kind="cosine")[0], scores.amax(1) - 0.25)
