"""Certificates of randomised smoothing: shares by the binomial itself, radii by the normal quantile."""

import math

import pytest
import torch
from scipy.stats import binom, norm

from samekind.measures.certificate import certified_radii, lowest_share


@pytest.mark.parametrize(
    ("count", "draws", "confidence"), [(90, 100, 0.95), (999, 1000, 0.999), (1, 10, 0.9)]
)
def test_at_the_lowest_share_so_many_successes_are_just_that_unlikely(count, draws, confidence):
    share = lowest_share(torch.tensor([count]), draws, confidence=confidence).item()
    assert binom.sf(count - 1, draws, share) == pytest.approx(1 - confidence, abs=1e-9)


def test_all_successes_have_a_closed_form():
    share = lowest_share(torch.tensor([50]), 50, confidence=0.999).item()
    assert share == pytest.approx(0.001 ** (1 / 50))
    radius = certified_radii(torch.tensor([50]), 50, sigma=0.5).item()
    assert radius == pytest.approx(0.5 * norm.ppf(0.001 ** (1 / 50)))


def test_less_than_half_certifies_nothing_and_more_successes_certify_more():
    radii = certified_radii(torch.arange(101), 100, sigma=1.0)
    assert radii[:51].abs().max() == 0
    assert bool((radii.diff() >= 0).all())
    assert radii[-1] > 1


@pytest.mark.parametrize(
    ("counts", "draws", "sigma"), [([11], 10, 1.0), ([-1], 10, 1.0), ([1], 0, 1.0), ([1], 10, 0.0)]
)
def test_impossible_values_are_refused(counts, draws, sigma):
    with pytest.raises(ValueError, match="expected"):
        certified_radii(torch.tensor(counts), draws, sigma=sigma)


def test_the_interval_holds_as_often_as_it_says():
    generator = torch.Generator().manual_seed(0)
    counts = (torch.rand(4000, 200, generator=generator) < 0.7).sum(1)
    missed = (lowest_share(counts, 200, confidence=0.95) > 0.7).double().mean().item()
    assert missed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)
