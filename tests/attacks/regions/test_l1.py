"""The L1 ball: an exact projection, sparse steps."""

import pytest
import torch

from samekind.attacks import L1


def test_every_change_is_shrunk_by_the_same_amount():
    clean = torch.zeros(2, 3)
    x = torch.tensor([[3.0, -1.0, 0.2], [0.3, 0.2, 0.1]])
    assert L1(2.0).project(x, clean).tolist() == [[2.0, 0.0, 0.0], x[1].tolist()]
    assert L1(3.0).project(x, clean).tolist() == [[2.5, -0.5, 0.0], x[1].tolist()]


def test_a_step_moves_the_largest_gradients():
    gradient = torch.tensor([[0.1, -5.0, 3.0, 0.0, 2.0, 1.0]])
    assert L1(1.0).steepest(gradient).tolist()[0] == pytest.approx([0.0, -0.5, 0.3, 0.0, 0.2, 0.0])
    assert L1(1.0, share=0.8).steepest(gradient).count_nonzero() == 5
    assert L1(1.0).steepest(gradient[:, :2]).count_nonzero() == 2


def test_a_start_is_uniform_in_the_ball():
    """The mean size of a uniform point of the L1 ball in 4 dimensions is 4/5 of its radius."""
    generator = torch.Generator().manual_seed(0)
    sizes = [float(L1(1.0).start(torch.zeros(1, 4), generator).abs().sum()) for _ in range(2000)]
    assert sum(sizes) / 2000 == pytest.approx(0.8, abs=0.015)
