"""Several attacks: the nearest success, the highest value, and only what is still right."""

import pytest
import torch

from samekind.attacks import FGSM, PGD, PICTURES, Linf, Logits, Raised, Several
from samekind.errors import SettingError

SMALL, LARGE = PGD(Linf(0.08), steps=8, random_start=False), PGD(Linf(0.2), steps=8, random_start=False)


def test_the_nearest_success_is_the_worst(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    both = Several((LARGE, SMALL), on_all=True)(goal, x, limits=PICTURES)
    alone = [attack(goal, x, limits=PICTURES) for attack in (LARGE, SMALL)]
    assert torch.equal(both.succeeded, alone[0].succeeded | alone[1].succeeded)
    assert torch.equal(both.radius, torch.minimum(alone[0].radius, alone[1].radius))


def test_without_success_the_highest_value_counts(trained):
    model, x, labels = trained
    goal = Raised(Logits(model, labels))
    rows = torch.arange(len(x))
    both = Several((LARGE, SMALL), on_all=True)(goal, x, limits=PICTURES)
    small = SMALL(goal, x, limits=PICTURES)
    assert (goal.outcomes(both.x, rows) >= goal.outcomes(small.x, rows) - 1e-9).all()


def test_a_sequence_attacks_only_items_that_are_still_right(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    first = FGSM(Linf(0.1))
    fast = first(goal, x, limits=PICTURES)
    both = Several((first, PGD(Linf(0.1), steps=8)))(goal, x, limits=PICTURES)
    assert torch.equal(both.x[fast.succeeded], fast.x[fast.succeeded])
    assert (both.queries[~fast.succeeded] > fast.queries[~fast.succeeded]).all()
    assert both.succeeded.sum() > fast.succeeded.sum()


def test_no_attack_is_refused():
    with pytest.raises(SettingError, match="at least one attack"):
        Several(())
