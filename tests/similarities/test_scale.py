"""The scale: fixed or learned, always positive."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import FixedScale, LearnedScale


def test_a_fixed_scale_is_what_was_asked_and_has_nothing_to_learn():
    assert FixedScale()() == 1
    assert FixedScale(30.0)() == 30
    assert FixedScale(30.0).value == 30
    assert FixedScale(30.0).state_dict() == {}
    assert not FixedScale(30.0)().requires_grad


def test_a_learned_scale_starts_where_asked():
    assert LearnedScale()().item() == pytest.approx(10)
    assert LearnedScale(math.exp(2))().item() == pytest.approx(7.389, abs=1e-3)
    assert LearnedScale(3.0).initial == 3


@pytest.mark.parametrize("rate", [1.0, 1000.0])
def test_a_learned_scale_moves_and_stays_positive(rate):
    scale = LearnedScale(2.0)
    optimiser = torch.optim.SGD(scale.parameters(), lr=rate)
    scale().backward()
    optimiser.step()
    assert 0 <= scale().item() < 2
    assert scale().isfinite()


def test_its_gradient_is_its_own_value():
    """d exp(r)/dr = exp(r)."""
    scale = LearnedScale(5.0)
    scale().backward()
    assert scale.logarithm.grad.item() == pytest.approx(5)


def test_a_learned_scale_is_kept_with_the_weights():
    one, other = LearnedScale(5.0), LearnedScale(9.0)
    other.load_state_dict(one.state_dict())
    assert other() == one()
    assert LearnedScale(2.0).double()().dtype == torch.double


@pytest.mark.parametrize("kind", [FixedScale, LearnedScale])
@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_refuses_what_is_no_scale(kind, value):
    with pytest.raises(SettingError, match="a scale must be a positive number, got"):
        kind(value)
