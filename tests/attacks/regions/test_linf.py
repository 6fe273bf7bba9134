"""The Linf ball."""

import torch

from samekind.attacks import Linf


def test_coordinates_are_clipped():
    x, clean = torch.tensor([[3.0, 0.1], [-2.0, 0.0]]), torch.zeros(2, 2)
    assert Linf(0.5).project(x, clean).tolist() == [[0.5, torch.tensor(0.1).item()], [-0.5, 0.0]]
    assert Linf(0.5).steepest(x).tolist() == [[1.0, 1.0], [-1.0, 0.0]]
