"""The combined distance: a mixture of L1 and Linf, by hand; see also the hull's tests for appendix A."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samekind.attacks.regions import Combined


def test_the_distance_by_hand():
    ball, zero = Combined(2.0, 1.0), torch.zeros(1, 3)
    assert ball.mixture(3) == 0.5
    assert float(ball.distance(torch.tensor([[3.0, -1.0, 0.0]]), zero)) == 0.5 * 4 + 0.5 * 3


def test_the_ball_touches_the_corners_of_both():
    ball, zero = Combined(1.7, 0.4), torch.zeros(2, 9).double()
    corners = torch.stack([torch.eye(9)[0] * 1.7, torch.full((9,), 0.4)]).double()
    assert ball.distance(corners, zero).tolist() == pytest.approx([1.7, 1.7])


@settings(max_examples=30)
@given(gradient=arrays.arrays("float64", 5, elements=st.floats(-2, 2)), ratio=st.floats(1.1, 4.8))
def test_no_step_of_the_ball_rises_more_than_the_steepest(gradient, ratio):
    """Against all corners: k equal changes, with every set of coordinates and their best signs."""
    ball, gradient = Combined(ratio, 1.0), torch.from_numpy(gradient)
    mixture = ball.mixture(5)
    best = 0.0
    for taken in range(1, 2**5):
        chosen = torch.tensor([taken >> place & 1 for place in range(5)]).bool()
        length = 1 / (mixture * int(chosen.sum()) + 1 - mixture)
        best = max(best, float(gradient[chosen].abs().sum()) * length)
    step = ball.steepest(gradient[None])[0]
    assert float(step @ gradient) == pytest.approx(best, abs=1e-12)


def test_another_size_has_the_same_form():
    larger = Combined(2.0, 1.0).resized(4.0)
    assert larger == Combined(4.0, 2.0)
    assert larger.mixture(3) == 0.5
