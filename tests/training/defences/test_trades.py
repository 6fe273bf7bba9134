"""TRADES: the divergence by its sum, term by term, and by hand."""

import math

import pytest
import torch

from samekind.training import Defence
from samekind.training.defences import paired_logits
from samekind.training.defences.trades import divergence, trades


def by_hand(clean, attacked):
    """The definition, one row at a time."""
    values = []
    for one, other in zip(clean.tolist(), attacked.tolist(), strict=True):
        p, q = ([math.exp(v) / sum(map(math.exp, row)) for v in row] for row in (one, other))
        values.append(sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)))
    return values


def test_two_classes_by_hand():
    # P = (3/4, 1/4), Q = (1/2, 1/2): KL = 3/4 ln 3/2 + 1/4 ln 1/2.
    clean, attacked = torch.tensor([[math.log(3.0), 0.0]]), torch.zeros(1, 2)
    expected = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert divergence(clean, attacked).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("against", ["prototypes", "batch"])
@pytest.mark.parametrize(("weight", "factor"), [(None, 6.0), (1.0, 1.0)])
def test_it_is_the_weighted_mean_of_the_divergences(make, against, weight, factor):
    both = make(against)
    values = by_hand(*paired_logits(both)[0])
    cost = trades(both, Defence("trades", weight=weight)).item()
    assert cost == pytest.approx(factor * sum(values) / len(values))


def test_equal_answers_cost_nothing_and_others_something(make):
    both = make()
    assert trades(both._replace(attacked=both.clean), Defence("trades")).item() == pytest.approx(0, abs=1e-12)
    assert trades(both, Defence("trades")).item() > 0.01


def test_the_gradient_goes_through_both_answers(make):
    both = make()
    trades(both, Defence("trades")).backward()
    assert both.clean.z.grad.abs().max().item() > 0
    assert both.attacked.z.grad.abs().max().item() > 0
