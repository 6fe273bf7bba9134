"""The spectrum of features against NumPy's singular values, and where it is known."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from samekind.measures.geometry import directions_of_variance, spectral_decay


def unit(x):
    return x / x.norm()


def decay_by_hand(features, *, first=0, last=None, reverse=False):
    values = np.zeros(features.shape[1])  # one for each dimension, however few the items
    result = np.linalg.svd(np.asarray(features), compute_uv=False)
    values[: len(result)] = result
    values = values[first:last]
    shares, count = values / values.sum(), len(values)
    if reverse:
        return sum(share * math.log(share * count) for share in shares if share > 0)
    return sum(math.log(1 / count / max(share, 1e-12)) / count for share in shares)


@pytest.mark.parametrize("items", [3, 6, 40])  # fewer than, and many more than, the 5 dimensions
@pytest.mark.parametrize("normalise", [True, False])
def test_decay_is_the_divergence_of_the_singular_values(items, normalise):
    features = torch.randn(items, 5, generator=torch.Generator().manual_seed(items), dtype=torch.double)
    rows = torch.stack([unit(x) for x in features]) if normalise else features
    for options, expected in {
        (): decay_by_hand(rows),
        ("truncated",): decay_by_hand(rows, last=4),
        ("skip_first",): decay_by_hand(rows, first=1),
        ("reverse",): decay_by_hand(rows, reverse=True),
        ("truncated", "skip_first", "reverse"): decay_by_hand(rows, first=1, last=4, reverse=True),
    }.items():
        result = spectral_decay(features, normalise=normalise, **dict.fromkeys(options, True))
        assert result == pytest.approx(expected, abs=1e-12)


def test_decay_is_zero_for_an_isotropic_spectrum():
    turned = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(0)).double()).Q
    for features in (torch.eye(5), turned, torch.cat([turned, -turned])):
        assert spectral_decay(features) == pytest.approx(0, abs=1e-12)
        assert directions_of_variance(features) == 0


def test_zeros_are_floored_or_left_out():
    flat = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    floored = spectral_decay(flat)
    assert floored == pytest.approx((2 * math.log(2 / 3) + math.log(1e12 / 3)) / 3)
    assert spectral_decay(flat, zeros="rank") == pytest.approx(0, abs=1e-12)
    assert spectral_decay(flat, reverse=True) == pytest.approx(math.log(3 / 2))


def test_directions_that_few_items_leave_empty_are_empty_ones():
    """The same rows twice lie along the same directions."""
    few = torch.eye(4)[:2]
    for options in ({}, {"truncated": True}, {"reverse": True}, {"zeros": "rank"}):
        once, twice = spectral_decay(few, **options), spectral_decay(few.repeat(3, 1), **options)
        assert once == pytest.approx(twice)
        assert once > 0.2 or "zeros" in options
    assert directions_of_variance(few) == directions_of_variance(few.repeat(3, 1)) == 2


@pytest.mark.parametrize("measure", [spectral_decay, directions_of_variance])
def test_features_that_are_all_zero_have_no_spectrum(measure):
    with pytest.raises(ValueError, match=r"expected .* got"):
        measure(torch.zeros(4, 3))


def test_directions_need_two_dimensions_and_zeros_a_known_word():
    with pytest.raises(ValueError, match="got 1 dimensions"):
        directions_of_variance(torch.ones(3, 1))
    with pytest.raises(ValueError, match='"floor" or "rank", got "drop"'):
        spectral_decay(torch.eye(2), zeros="drop")


@pytest.mark.parametrize("items", [4, 30])
def test_directions_are_those_above_an_equal_part(items):
    scale = torch.tensor([9.0, 5.0, 1.0, 0.5, 0.1, 0.1])
    features = scale * torch.randn(items, 6, generator=torch.Generator().manual_seed(1))
    values = np.linalg.svd(features.double().numpy(), compute_uv=False)[:5]
    expected = sum(value / values.sum() > 1 / 5 for value in values)
    assert directions_of_variance(features, normalise=False) == expected
    assert 1 <= expected <= 3


@given(st.integers(0, 10**6), st.floats(0.01, 100))
@effort(max_examples=15, deadline=None)
def test_size_and_rotation_do_not_matter(seed, factor):
    generator = torch.Generator().manual_seed(seed)
    features, square = torch.randn(9, 4, generator=generator), torch.randn(4, 4, generator=generator)
    turned = factor * features.double() @ torch.linalg.qr(square.double()).Q
    assert spectral_decay(turned) == pytest.approx(spectral_decay(features), abs=1e-6)
