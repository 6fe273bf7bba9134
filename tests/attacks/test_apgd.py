"""APGD: as strong as PGD with the same steps, and robust against a model that is very sure."""

import copy

import pytest
import torch

from samekind.attacks import APGD, L1, L2, PGD, PICTURES, Linf, Logits, Raised, logit_ratio


@pytest.mark.parametrize("region", [L1(0.25), L2(0.12), Linf(0.06)])
def test_it_is_no_weaker_than_pgd(trained, region):
    model, x, labels = trained
    goal = Logits(model, labels)
    ours = APGD(region, steps=20)(goal, x, limits=PICTURES)
    pgd = PGD(region, steps=20)(goal, x, limits=PICTURES)
    assert ours.succeeded.sum() >= pgd.succeeded.sum()
    assert 4 < pgd.succeeded.sum() < len(x)


def test_it_raises_the_value_further_than_pgd(trained):
    model, x, labels = trained
    goal = Raised(Logits(model, labels))
    values = []
    for attack in (APGD(Linf(0.2), steps=20), PGD(Linf(0.2), steps=20)):
        attacked = attack(goal, x, limits=PICTURES)
        values.append(goal.outcomes(attacked.x, torch.arange(len(x))).mean())
    assert values[0] >= values[1] - 1e-3


def test_a_very_sure_model_is_no_shelter(trained):
    """Logits times 1000: in single precision the cross-entropy has no gradient; the ratio of logits has."""
    model, x, labels = copy.deepcopy(trained)
    model, x = model.float(), x.float()
    plain = APGD(Linf(0.08), steps=20, objective=logit_ratio)(Logits(model, labels), x, limits=PICTURES)
    model.layers[5].weight.data *= 1000
    model.layers[5].bias.data *= 1000
    sure = APGD(Linf(0.08), steps=20, objective=logit_ratio)(Logits(model, labels), x, limits=PICTURES)
    masked = APGD(Linf(0.08), steps=20)(Logits(model, labels), x, limits=PICTURES)
    assert abs(int(sure.succeeded.sum()) - int(plain.succeeded.sum())) <= 1
    assert masked.succeeded.sum() < sure.succeeded.sum()
