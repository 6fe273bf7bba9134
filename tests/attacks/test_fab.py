"""FAB: exact on a linear model, no further than DeepFool and the peers' own, better with restarts."""

import pytest
import torch

from samekind.attacks import FAB, PICTURES, DeepFool, Limits, Logits

DUAL = {"l1": torch.inf, "l2": 2, "linf": 1}


@pytest.mark.parametrize("norm", DUAL)
def test_the_least_change_of_a_linear_model_is_found(linear, norm):
    model, x, labels, least = linear
    attacked = FAB(norm=norm, steps=3)(Logits(model, labels), x, limits=Limits())
    assert attacked.succeeded.all()
    torch.testing.assert_close(attacked.distance, least(DUAL[norm]), rtol=1e-4, atol=0)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_it_is_as_near_as_deep_fool(pictures, norm):
    """torchattacks' FAB without the last search gives the same numbers, see the benchmark."""
    model, x, labels = pictures
    fab = FAB(norm=norm, steps=20)(Logits(model, labels), x, limits=PICTURES)
    fool = DeepFool(norm=norm)(Logits(model, labels), x, limits=PICTURES)
    assert fab.succeeded.all()
    assert fab.distance.median() <= 1.02 * fool.distance.median()


@pytest.mark.parametrize("norm", DUAL)
def test_restarts_and_searches_only_come_nearer(pictures, norm):
    model, x, labels = pictures
    plain, searched, restarted = (
        FAB(norm=norm, steps=8, restarts=restarts, searches=searches)(
            Logits(model, labels), x, limits=PICTURES, generator=torch.Generator().manual_seed(0)
        )
        for restarts, searches in ((0, 0), (0, 3), (2, 0))
    )
    for attacked in (searched, restarted):
        assert (attacked.radius <= plain.radius + 1e-6).all()
        assert attacked.distance.sum() <= plain.distance.sum()


def test_no_success_is_no_change(linear):
    model, x, labels, _ = linear
    tight = Limits(x.amin(0) - 1e-6, x.amax(0) + 1e-6, fixed=torch.ones(7, dtype=torch.bool))
    attacked = FAB(steps=2, restarts=1)(Logits(model, labels), x, limits=tight)
    assert not attacked.succeeded.any()
    assert torch.equal(attacked.x, x)
