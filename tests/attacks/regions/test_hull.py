"""The hull of two balls: appendix A's membership test, its inclusions and its witness."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samekind.attacks.regions import L1, Combined, Hull, Linf
from samekind.errors import SettingError

NUMBERS = st.floats(-2.5, 2.5)


def mixtures(change, hull):
    """Appendix A's test at many t in [0, 1]: what the smaller box leaves fits into the smaller L1 ball."""
    t = torch.linspace(0, 1, 5_001, dtype=torch.double)[:, None]
    left = (change.abs() - (1 - t) * hull.largest).clamp_min(0).sum(1) - t[:, 0] * hull.epsilon
    return float(left.min())


@settings(max_examples=40)
@given(change=arrays.arrays("float64", 4, elements=NUMBERS), ratio=st.floats(1.05, 3.95))
def test_a_point_is_inside_where_it_is_a_mixture_of_the_two_balls(change, ratio):
    hull, change = Hull(ratio, 1.0), torch.from_numpy(change)
    gap = mixtures(change, hull)
    inside = bool(hull.contains(change[None], torch.zeros(1, 4).double()))
    assert inside == (gap <= 1e-9) or abs(gap) < 4e-3  # where the grid of t is too coarse to tell


def test_the_witness_of_appendix_a():
    """In three dimensions (w, w, 0) is on the combined ball and outside the hull; w = 4/3."""
    clean = torch.zeros(1, 3).double()
    witness = torch.tensor([[4 / 3, 4 / 3, 0]], dtype=torch.double)
    assert Combined(2.0, 1.0).mixture(3) == 0.5
    assert float(Combined(2.0, 1.0).distance(witness, clean)) == pytest.approx(2)
    assert float(Hull(2.0, 1.0).distance(witness, clean)) == pytest.approx(8 / 3)
    assert Combined(2.0, 1.0).contains(witness, clean)
    assert not Hull(2.0, 1.0).contains(witness, clean)


@pytest.mark.parametrize("size", [2, 3, 5, 12])
def test_the_inclusions_of_appendix_a(size):
    """Both balls are in their hull and the hull is in the combined ball; in two dimensions they are one."""
    generator = torch.Generator().manual_seed(size)
    largest, epsilon = 1.0, 0.6 * size
    hull, combined = Hull(epsilon, largest), Combined(epsilon, largest)
    x = 1.5 * torch.randn(4000, size, generator=generator, dtype=torch.double)
    clean = torch.zeros_like(x)
    balls = L1(epsilon).contains(x, clean) | Linf(largest).contains(x, clean)
    inside, combined_inside = hull.contains(x, clean), combined.contains(x, clean)
    assert not (balls & ~inside).any()
    assert not (inside & ~combined_inside).any()
    assert (combined_inside & ~inside).any() == (size > 2)
    if size == 2:
        torch.testing.assert_close(hull.distance(x, clean), combined.distance(x, clean))


@pytest.mark.parametrize("size", [3, 5])
def test_the_witness_in_any_dimension(size):
    epsilon, largest = 1.5, 1.0
    w = (size - 1) * epsilon * largest / (epsilon + (size - 2) * largest)
    witness = torch.tensor([[w, w, *[0.0] * (size - 2)]], dtype=torch.double)
    clean = torch.zeros_like(witness)
    assert float(Combined(epsilon, largest).distance(witness, clean)) == pytest.approx(epsilon)
    assert not Hull(epsilon, largest).contains(witness, clean)


def test_the_steepest_step_is_a_corner_of_the_better_ball():
    hull, zero = Hull(2.0, 1.0), torch.zeros(3, 3).double()
    steps = hull.steepest(torch.tensor([[5.0, 1.0, -1.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]).double())
    assert steps.tolist() == [[1, 0, 0], [0.5, 0.5, -0.5], [0, 0, 0]]
    assert hull.distance(steps, zero).tolist() == [1, 1, 0]


def test_pictures():
    clean = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    hull = Hull(2.0, 0.1)
    projected = hull.project(clean + 1, clean)
    assert projected.shape == clean.shape
    assert hull.contains(projected, clean).all()
    torch.testing.assert_close(projected, clean + 0.1)  # all coordinates alike: the corner of the box


@pytest.mark.parametrize("kind", [Hull, Combined])
def test_sizes_that_do_not_fit_are_refused(kind):
    with pytest.raises(SettingError, match="0 < largest < epsilon, got largest=2 and epsilon=1"):
        kind(1, 2)
    with pytest.raises(SettingError, match=r"with 3 coordinates L1\(3\) holds Linf\(1\) whole"):
        kind(3, 1).project(torch.zeros(2, 3), torch.zeros(2, 3))
