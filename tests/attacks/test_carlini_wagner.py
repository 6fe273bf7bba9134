"""Carlini & Wagner's attack: the least change of a linear model, a peer's medians, tanh space."""

import pytest
import torch

from samekind.attacks import FAB, PICTURES, CarliniWagner, Limits, Logits
from samekind.attacks.carlini_wagner import tanh_space


def test_the_least_change_of_a_linear_model_is_found(linear):
    model, x, labels, least = linear
    for limits in (Limits(), Limits(-5.0, 5.0)):
        attacked = CarliniWagner(steps=120, searches=5, constant=0.1)(Logits(model, labels), x, limits=limits)
        assert attacked.succeeded.all()
        ratio = attacked.distance / least(2)
        assert ratio.min() >= 1
        assert (
            ratio.median() < 1.02
        )  # the margin of the best rival, not of the nearest one, is what it descends


def test_it_is_as_near_as_the_peer(pictures):
    foolbox = pytest.importorskip("foolbox")
    model, x, labels = pictures
    ours = CarliniWagner(steps=60, searches=5)(Logits(model, labels), x, limits=PICTURES)
    peer = foolbox.attacks.L2CarliniWagnerAttack(steps=60, binary_search_steps=5, abort_early=False)
    _, theirs, _ = peer(foolbox.PyTorchModel(model, bounds=(0, 1)), x, labels, epsilons=None)
    distance = (theirs - x).flatten(1).norm(dim=1)
    # The peer gives a black picture where it finds none.
    distance[(theirs == 0).flatten(1).all(1)] = torch.inf
    assert ours.radius.median() <= 1.02 * distance.median()
    assert ours.succeeded.sum() >= distance.isfinite().sum()


def test_a_confidence_is_a_lead(pictures):
    model, x, labels = pictures
    attack = CarliniWagner(steps=60, searches=4, constant=1.0, confidence=2.0)
    attacked = attack(Logits(model, labels), x, limits=PICTURES)
    assert attacked.succeeded.any()
    with torch.no_grad():
        logits = model(attacked.x[attacked.succeeded])
    rows = torch.arange(len(logits))
    assert (logits.amax(1) - logits[rows, labels[attacked.succeeded]] >= 2.0 - 1e-4).all()


def test_more_steps_come_nearer_to_the_boundary(pictures):
    model, x, labels = pictures
    few, more = (
        CarliniWagner(steps=steps, searches=3, constant=1.0)(Logits(model, labels), x, limits=PICTURES)
        for steps in (20, 150)
    )
    assert more.radius.median() < few.radius.median()
    near = FAB(norm="l2", steps=20)(Logits(model, labels), x, limits=PICTURES)
    assert more.radius.median() < 1.5 * near.radius.median()


def test_items_that_gain_no_more_are_dropped(linear):
    model, x, labels, _ = linear
    attacked = CarliniWagner(steps=100, searches=3)(Logits(model, labels), x, limits=Limits(-10.0, 10.0))
    assert attacked.queries.unique().numel() > 1
    assert attacked.queries.max() <= 2 + 300


def test_tanh_space_begins_at_the_items_and_stays_in_the_range():
    clean = torch.tensor([[0.0, 1.0, 0.3, 5.0, -2.0]], dtype=torch.float64)
    low = torch.tensor([0.0, 0.0, 0.0, 4.0, -torch.inf], dtype=torch.float64)
    high = torch.tensor([1.0, 1.0, 1.0, torch.inf, torch.inf], dtype=torch.float64)
    limits = Limits(low, high, fixed=torch.tensor([False, False, True, False, False]))
    space = tanh_space(limits, clean)
    x, slope = space.input(space.start)
    torch.testing.assert_close(x, clean, atol=1e-6, rtol=0)
    assert slope[0, 2] == 0
    free = space.start.clone().requires_grad_()
    [gradient] = torch.autograd.grad(space.input(free)[0].sum(), free)
    torch.testing.assert_close(gradient, slope)
    for free in (space.start + 50, space.start - 50):
        x, _ = space.input(free)
        assert torch.equal(x, limits.bound(x, clean))
