"""What every attack promises, held for all of ``attacks.ATTACKS``: being listed puts it under test.

An attack is made by a line of MADE: with few steps, in a region large enough to succeed on some items.
"""

import copy
import dataclasses

import pytest
import torch

from samekind import attacks
from samekind.attacks import (
    APGD,
    BIM,
    FAB,
    FGSM,
    PGD,
    PICTURES,
    Aimed,
    CarliniWagner,
    DeepFool,
    HopSkipJump,
    Limits,
    Linf,
    Logits,
    Raised,
    RandomSearch,
    Several,
    Square,
    Transfer,
    Within,
)
from samekind.errors import DataError

REGION = Linf(0.15)
#: Name -> a function of the trained model and labels (a surrogate is made from them) that gives the attack.
MADE = {
    "Aimed": lambda model, labels: Aimed(PGD(REGION, steps=5), count=2),
    "APGD": lambda model, labels: APGD(REGION, steps=8),
    "BIM": lambda model, labels: BIM(REGION, steps=5),
    "CarliniWagner": lambda model, labels: CarliniWagner(steps=30, searches=4),
    "DeepFool": lambda model, labels: DeepFool(steps=5),
    "FAB": lambda model, labels: FAB(steps=5, restarts=1),
    "FGSM": lambda model, labels: FGSM(REGION),
    "HopSkipJump": lambda model, labels: HopSkipJump(steps=3, draws=30),
    "PGD": lambda model, labels: PGD(REGION, steps=5, restarts=2),
    "RandomSearch": lambda model, labels: RandomSearch(Linf(0.3), tries=20),
    "Several": lambda model, labels: Several(
        (FGSM(REGION), PGD(REGION, steps=5), RandomSearch(REGION, tries=3))
    ),
    "Square": lambda model, labels: Square(REGION, queries=50),
    "Transfer": lambda model, labels: Transfer(PGD(REGION, steps=5), Raised(Logits(noisy(model), labels))),
    "Within": lambda model, labels: Within(FAB(steps=5), REGION),
    "Several, on all": lambda model, labels: Several(
        (PGD(REGION, steps=5), RandomSearch(REGION, tries=5)), on_all=True
    ),
}


def noisy(model):
    """Another model of the same kind: the weights a little changed."""
    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in other.parameters():
            weights += 0.05 * torch.randn(weights.shape, generator=generator, dtype=weights.dtype)
    return other


@pytest.fixture(params=(*attacks.ATTACKS, "Several, on all"), scope="module")
def make(request):
    assert request.param in MADE, f"make a small {request.param} in MADE of this file"
    return MADE[request.param]


def carried(make, model, x, labels, *, target=None, limits=PICTURES):
    """The attack on these items, with a seed."""
    goal = Logits(model, labels, target=target)
    return make(model, labels)(goal, x, limits=limits, generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module")
def attacked(make, trained):
    return carried(make, *trained)


@pytest.fixture(scope="module")
def wrong(trained):
    """Which items are wrong before any attack."""
    model, x, labels = trained
    with torch.no_grad():
        return model(x).argmax(1) != labels


def test_it_is_a_value(make, trained):
    attack = make(trained[0], trained[2])
    assert dataclasses.is_dataclass(attack)
    assert attack == copy.copy(attack)
    with pytest.raises(dataclasses.FrozenInstanceError):
        attack.anything = 1


def test_what_it_says_is_so(make, attacked, trained):
    model, x, labels = trained
    attack = make(model, labels)
    with torch.no_grad():
        assert torch.equal(attacked.succeeded, model(attacked.x).argmax(1) != labels)
    assert attacked.x.shape == x.shape
    assert attacked.x.dtype == x.dtype
    assert 0 <= attacked.x.min() <= attacked.x.max() <= 1
    torch.testing.assert_close(attacked.distance, attack.distance(attacked.x, x))
    assert attacked.queries.shape == labels.shape
    assert attacked.queries.min() >= 1
    if hasattr(attack, "region"):
        assert attack.region.contains(attacked.x, x).all()


def test_it_succeeds_somewhere(attacked, wrong):
    assert attacked.succeeded.sum() > wrong.sum()


def test_an_item_that_is_wrong_already_stays(attacked, trained, wrong):
    assert wrong.any()
    assert torch.equal(attacked.x[wrong], trained[1][wrong])
    assert (attacked.distance[wrong] == 0).all()
    assert attacked.succeeded[wrong].all()


def test_the_same_seed_gives_the_same(make, attacked, trained):
    assert torch.equal(carried(make, *trained).x, attacked.x)


def test_an_item_does_not_depend_on_the_others(make, attacked, trained):
    """Neither on which they are, nor on how many, nor on its place."""
    model, x, labels = trained
    rows = torch.tensor([17, 3, 40, 8, 9])
    few = carried(make, model, x[rows], labels[rows])
    torch.testing.assert_close(few.x, attacked.x[rows], atol=1e-7, rtol=0)
    assert torch.equal(few.succeeded, attacked.succeeded[rows])


def test_model_and_items_are_left_as_they_were(make, trained):
    model, x, labels = copy.deepcopy(trained)
    model.train()
    model.layers[2].eval()
    model.layers[1].weight.requires_grad_(False)
    model.layers[5].weight.grad = torch.ones_like(model.layers[5].weight)
    state, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    carried(make, model, x, labels)
    assert model.training
    assert [m.training for m in model.layers] == [True, True, False, True, True, True]
    assert [p.requires_grad for p in model.parameters()] == [False, True, True, True, True, True]
    assert [p.grad is None for p in model.parameters()] == [True, True, True, True, False, True]
    assert (model.layers[5].weight.grad == 1).all()
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(x, trained[1])
    assert not x.requires_grad


def test_single_precision_and_other_shapes_are_fine(make, attacked, trained):
    model, x, labels = copy.deepcopy(trained)
    single = carried(make, model.float(), x.float().reshape(-1, 2, 3), labels)
    assert single.x.shape == (len(x), 2, 3)
    assert single.x.dtype == single.distance.dtype == torch.float32
    assert abs(single.succeeded.float().mean() - attacked.succeeded.float().mean()) < 0.15


def test_no_items_give_none(make, trained):
    model, x, labels = trained
    none = carried(make, model, x[:0], labels[:0])
    assert none.x.shape == (0, 6)
    assert none.succeeded.shape == none.distance.shape == none.queries.shape == (0,)


def test_a_target_is_aimed_at(make, trained):
    model, x, labels = trained
    target = (labels + 1) % 4
    attacked = carried(make, model, x, labels, target=target)
    with torch.no_grad():
        assert torch.equal(attacked.succeeded, model(attacked.x).argmax(1) == target)


def test_columns_keep_their_limits(make, trained):
    model, x, labels = trained
    fixed = torch.tensor([False, True, False, False, False, False])
    limits = Limits(x.amin(0), x.amax(0), fixed=fixed)
    attacked = carried(make, model, x, labels, limits=limits)
    assert torch.equal(attacked.x[:, 1], x[:, 1])
    assert torch.equal(attacked.x, limits.clip(attacked.x, x))


def test_items_outside_the_limits_are_refused(make, trained):
    model, x, labels = trained
    with pytest.raises(DataError, match="outside the limits"):
        carried(make, model, x + 1, labels)
    with pytest.raises(DataError, match="one for each truth"):
        carried(make, model, x[:5], labels)


@pytest.mark.device
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_finds_what_the_cpu_finds(make, attacked, trained):
    model, x, labels = copy.deepcopy(trained)
    random = torch.cuda.get_rng_state()
    there = carried(make, model.cuda(), x.cuda(), labels)
    assert there.x.device.type == there.succeeded.device.type == there.distance.device.type == "cuda"
    assert abs(there.succeeded.float().mean().cpu() - attacked.succeeded.float().mean()) < 0.1
    assert torch.equal(torch.cuda.get_rng_state(), random)
