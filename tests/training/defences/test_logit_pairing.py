"""Adversarial logit pairing: the mean of both losses, and the squared differences counted one by one."""

import pytest

from samekind.training import Defence
from samekind.training.defences import paired_logits
from samekind.training.defences.logit_pairing import logit_pairing
from samekind.training.defences.mixing import mixed


@pytest.mark.parametrize("against", ["prototypes", "batch"])
@pytest.mark.parametrize(("weight", "factor"), [(None, 0.5), (3.0, 3.0)])
def test_it_is_the_mixed_loss_and_the_weighted_mean_square(make, against, weight, factor):
    both = make(against)
    clean, attacked = (logits.tolist() for logits in paired_logits(both)[0])
    squares = [
        (a - b) ** 2
        for one, other in zip(clean, attacked, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    cost = logit_pairing(both, Defence("logit-pairing", weight=weight)).item()
    expected = mixed(both, Defence()).item() + factor * sum(squares) / len(squares)
    assert cost == pytest.approx(expected)
