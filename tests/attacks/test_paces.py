"""The ground under a climb, and the paces: checkpoints, halved steps, momentum."""

import pytest
import torch

from samekind.attacks import Limits, Linf
from samekind.attacks.paces import Ground, Halving, Steady, checkpoints


def open_ground(count, epsilon=10.0):
    return Ground(torch.zeros(count, 1), Linf(epsilon), Limits())


def test_iterates_come_back_into_region_and_limits():
    clean = torch.tensor([[0.9, 0.5]])
    ground = Ground(clean, Linf(0.2), Limits(0.0, 1.0))
    assert ground.back(clean + 0.3).tolist()[0] == pytest.approx([1.0, 0.7])
    assert ground.stepped(clean, 0.1, torch.tensor([[-3.0, 2.0]])).tolist()[0] == pytest.approx([0.8, 0.6])


def test_momentum_adds_up_gradients():
    pace, u = Steady(1.0, 0.9), torch.zeros(2, 1)
    u = pace.advance(open_ground(2), u, torch.zeros(2), torch.tensor([[5.0], [-2.0]]))
    assert u[:, 0].tolist() == [1.0, -1.0]
    pace.drop(torch.tensor([True, False]))
    # 0.9 of the old direction outweighs 0.0 of the new one.
    u = pace.advance(open_ground(1), u[:1], torch.zeros(1), torch.tensor([[0.0]]))
    assert u[:, 0].tolist() == [2.0]


def test_checkpoints_come_closer():
    assert checkpoints(100) == {22, 41, 57, 70, 80, 87, 93, 99}
    assert checkpoints(3) == {1, 2}
    assert checkpoints(1) == set()


def test_the_step_is_halved_where_the_value_does_not_rise():
    """The first item rises at each step; the second jumps over the top of -|u - 0.1| and back."""
    count = 12
    u = torch.zeros(2, 1)
    pace, ground = Halving(u, 4.0, count), open_ground(2, epsilon=1000.0)
    tops = torch.tensor([[1000.0], [0.1]])
    for _ in range(count):
        value, gradient = -(u - tops).abs()[:, 0], (tops - u).sign()
        u = pace.advance(ground, u, value, gradient)
    assert pace.step[0] == 4.0
    assert pace.step[1] <= 1.0
    assert pace.highest[1] > -2.0
    pace.drop(torch.tensor([False, True]))
    assert pace.step.shape == pace.highest.shape == (1,)
