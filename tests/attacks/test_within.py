"""A least change counts inside a region alone, so that it can stand beside attacks in that region."""

import torch

from samekind.attacks import APGD, FAB, PICTURES, Aimed, Linf, Logits, Several, Square, Within, logit_ratio

REGION = Linf(0.08)


def test_what_is_found_outside_does_not_count(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    free = FAB(norm="linf", steps=10)(goal, x, limits=PICTURES)
    inside = Within(FAB(norm="linf", steps=10), REGION)(goal, x, limits=PICTURES)
    near = free.succeeded & REGION.contains(free.x, x)
    assert torch.equal(inside.succeeded, near)
    assert 0 < int(near.sum()) < int(free.succeeded.sum())  # some of each
    assert torch.equal(inside.x[near], free.x[near])
    assert torch.equal(inside.x[~near], x[~near])
    assert bool(REGION.contains(inside.x, x).all())


def test_the_sequence_of_auto_attack_stays_in_its_region(trained):
    """Each of the four gets what the ones before left: none of them can lower what was broken."""
    model, x, labels = trained
    goal, parts = (
        Logits(model, labels),
        (
            APGD(REGION, steps=5),
            Aimed(APGD(REGION, steps=5, objective=logit_ratio), count=3),
            Within(Aimed(FAB(norm="linf", steps=5), count=3), REGION),
            Square(REGION, queries=30),
        ),
    )
    together = Several(parts)(goal, x, limits=PICTURES)
    assert bool(REGION.contains(together.x, x).all())
    for part in parts:
        assert bool((part(goal, x, limits=PICTURES).succeeded <= together.succeeded).all())
