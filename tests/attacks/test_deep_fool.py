"""DeepFool: one step on a linear model, and a peer's medians."""

import pytest
import torch

from samekind.attacks import PICTURES, DeepFool, Limits, Logits

DUAL = {"l2": 2, "linf": 1}


@pytest.mark.parametrize("norm", DUAL)
def test_a_linear_model_takes_one_step(linear, norm):
    model, x, labels, least = linear
    attacked = DeepFool(norm=norm)(Logits(model, labels), x, limits=Limits())
    assert attacked.succeeded.all()
    torch.testing.assert_close(attacked.distance, 1.02 * least(DUAL[norm]))
    # Before, at the item, after the step, and the final check.
    assert (attacked.queries == 4).all()


@pytest.mark.parametrize("norm", DUAL)
def test_it_is_as_near_as_the_peer(pictures, norm):
    foolbox = pytest.importorskip("foolbox")
    model, x, labels = pictures
    ours = DeepFool(norm=norm)(Logits(model, labels), x, limits=PICTURES)
    name = "L2DeepFoolAttack" if norm == "l2" else "LinfDeepFoolAttack"
    fooled = foolbox.PyTorchModel(model, bounds=(0, 1))
    _, theirs, _ = getattr(foolbox.attacks, name)()(fooled, x, labels, epsilons=None)
    distance = (theirs - x).flatten(1).norm(p=2 if norm == "l2" else torch.inf, dim=1)
    assert ours.succeeded.all()
    assert ours.distance.median() <= 1.02 * distance.median()


def test_few_rivals_are_enough_where_the_nearest_is_among_them(pictures):
    model, x, labels = pictures
    all_of_them, few = (
        DeepFool(rivals=rivals)(Logits(model, labels), x, limits=PICTURES).distance for rivals in (9, 3)
    )
    assert few.median() <= 1.05 * all_of_them.median()
