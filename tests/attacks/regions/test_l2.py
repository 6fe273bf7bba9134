"""The L2 ball."""

import pytest
import torch

from samekind.attacks import L2


def test_points_move_towards_the_item():
    projected = L2(5.0).project(
        torch.tensor([[7.0, 9.0], [1.0, 2.0]]), torch.tensor([[1.0, 1.0]]).expand(2, -1)
    )
    assert projected.tolist() == [pytest.approx([4.0, 5.0]), [1.0, 2.0]]


def test_a_start_is_uniform_in_the_ball():
    """The mean size of a uniform point of the L2 ball in 4 dimensions is 4/5 of its radius."""
    generator = torch.Generator().manual_seed(0)
    sizes = [float(L2(1.0).start(torch.zeros(1, 4), generator).norm()) for _ in range(2000)]
    assert sum(sizes) / 2000 == pytest.approx(0.8, abs=0.015)
