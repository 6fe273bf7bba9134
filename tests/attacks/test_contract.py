"""What every attack promises, held for all of ``attacks.ATTACKS``: being listed puts it under test.

An attack is made by a line of MADE: with few steps, in a region large enough to succeed on some items.
"""

import copy
import dataclasses

import pytest
import torch

from samekind import attacks
from samekind.attacks import PGD, PICTURES, Linf, Logits
from samekind.errors import DataError

REGION = Linf(0.15)
#: Name -> a function of the trained model and labels (a surrogate is made from them) that gives the attack.
MADE = {
    "PGD": lambda model, labels: PGD(REGION, steps=5, restarts=2),
}


def seeded():
    return torch.Generator().manual_seed(3)


@pytest.fixture(params=attacks.ATTACKS, scope="module")
def attack(request, trained):
    assert request.param in MADE, f"make a small {request.param} in MADE of this file"
    return MADE[request.param](trained[0], trained[2])


@pytest.fixture(scope="module")
def attacked(attack, trained):
    model, x, labels = trained
    return attack(Logits(model, labels), x, limits=PICTURES, generator=seeded())


def test_it_is_a_value(attack):
    assert dataclasses.is_dataclass(attack)
    assert attack == copy.copy(attack)
    with pytest.raises(dataclasses.FrozenInstanceError):
        attack.anything = 1


def test_what_it_says_is_so(attack, attacked, trained):
    model, x, labels = trained
    with torch.no_grad():
        wrong = model(attacked.x).argmax(1) != labels
    assert torch.equal(attacked.succeeded, wrong)
    assert attacked.x.shape == x.shape
    assert attacked.x.dtype == x.dtype
    assert 0 <= attacked.x.min() <= attacked.x.max() <= 1
    torch.testing.assert_close(attacked.distance, attack.distance(attacked.x, x))
    assert attacked.queries.shape == labels.shape
    assert attacked.queries.min() >= 1


def test_it_stays_in_its_region(attack, attacked, trained):
    if hasattr(attack, "region"):
        assert attack.region.contains(attacked.x, trained[1]).all()


def test_it_succeeds_somewhere(attacked, trained):
    model, x, labels = trained
    with torch.no_grad():
        wrong = model(x).argmax(1) != labels
    assert attacked.succeeded.sum() > wrong.sum()


def test_an_item_that_is_wrong_already_stays(attacked, trained):
    model, x, labels = trained
    with torch.no_grad():
        wrong = model(x).argmax(1) != labels
    assert wrong.any()
    assert torch.equal(attacked.x[wrong], x[wrong])
    assert (attacked.distance[wrong] == 0).all()
    assert attacked.succeeded[wrong].all()


def test_the_same_seed_gives_the_same(attack, attacked, trained):
    model, x, labels = trained
    again = attack(Logits(model, labels), x, limits=PICTURES, generator=seeded())
    assert torch.equal(again.x, attacked.x)


def test_an_item_does_not_depend_on_the_others(attack, attacked, trained):
    """Neither on which they are, nor on how many, nor on its place."""
    model, x, labels = trained
    rows = torch.tensor([17, 3, 40, 8, 9])
    few = attack_on(attack, model, x[rows], labels[rows], rows)
    torch.testing.assert_close(few.x, attacked.x[rows], atol=1e-7, rtol=0)
    assert torch.equal(few.succeeded, attacked.succeeded[rows])


def attack_on(attack, model, x, labels, rows):
    """The attack on some items; a surrogate, if there is one, is about all."""
    if hasattr(attack, "surrogate"):
        attack = dataclasses.replace(attack, surrogate=attacks.goal.Part(attack.surrogate, rows))
    return attack(Logits(model, labels), x, limits=PICTURES, generator=seeded())


def test_the_model_is_left_as_it_was(attack, trained):
    model, x, labels = copy.deepcopy(trained)
    model.train()
    model.layers[2].eval()
    model.layers[1].weight.requires_grad_(False)
    model.layers[5].weight.grad = torch.ones_like(model.layers[5].weight)
    state, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    attack(Logits(model, labels), x, limits=PICTURES)
    assert model.training
    assert [m.training for m in model.layers] == [True, True, False, True, True, True]
    assert [p.requires_grad for p in model.parameters()] == [False, True, True, True, True, True]
    assert [p.grad is None for p in model.parameters()] == [True, True, True, True, False, True]
    assert (model.layers[5].weight.grad == 1).all()
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)


def test_the_items_are_left_as_they_were(attack, trained):
    model, x, labels = trained
    before = x.clone()
    attack(Logits(model, labels), x, limits=PICTURES)
    assert torch.equal(x, before)
    assert not x.requires_grad


def test_single_precision_and_no_items_are_fine(attack, trained):
    model, x, labels = copy.deepcopy(trained)
    given = attack
    if hasattr(attack, "surrogate"):
        surrogate = Logits(model, labels[:0])
        given = dataclasses.replace(attack, surrogate=surrogate)
    none = given(Logits(model, labels[:0]), x[:0], limits=PICTURES)
    assert none.x.shape == (0, 6)
    assert none.succeeded.shape == none.distance.shape == none.queries.shape == (0,)
    if not hasattr(attack, "surrogate"):
        single = attack(Logits(model.float(), labels), x.float(), limits=PICTURES)
        assert single.x.dtype == single.distance.dtype == torch.float32
        assert single.succeeded.any()


def test_a_target_is_aimed_at(attack, trained):
    model, x, labels = trained
    target = (labels + 1) % 4
    attacked = attack(Logits(model, labels, target=target), x, limits=PICTURES)
    with torch.no_grad():
        assert torch.equal(attacked.succeeded, model(attacked.x).argmax(1) == target)


def test_items_outside_the_limits_are_refused(attack, trained):
    model, x, labels = trained
    with pytest.raises(DataError, match="outside the limits"):
        attack(Logits(model, labels), x + 1, limits=PICTURES)
    with pytest.raises(DataError, match="one truth per item"):
        attack(Logits(model, labels), x[:5], limits=PICTURES)
