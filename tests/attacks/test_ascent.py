"""The loop: the worst point is kept, and iterates may lie between whole numbers."""

import pytest
import torch

from samekind.attacks import PGD, Limits, Linf, Logits
from samekind.attacks.ascent import Plan, Worst
from samekind.attacks.paces import Steady
from samekind.errors import SettingError


def test_success_comes_before_value():
    worst = Worst(torch.zeros(2, 1))
    rows = torch.arange(2)
    worst.note(rows, torch.tensor([[1.0], [1.0]]), torch.tensor([5.0, 5.0]), torch.tensor([False, True]))
    worst.note(rows, torch.tensor([[2.0], [2.0]]), torch.tensor([6.0, 9.0]), torch.tensor([True, False]))
    assert worst.x[:, 0].tolist() == [2.0, 1.0]
    assert worst.queries.tolist() == [2, 2]


def test_whole_numbers_are_crossed_in_small_steps():
    """Steps of 0.4 would never leave a whole number that is rounded to at once."""
    model = torch.nn.Linear(2, 2, bias=False)
    model.weight.data = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    limits = Limits(-5.0, 5.0, integer=torch.tensor([True, False]), fixed=torch.tensor([False, True]))
    x = torch.tensor([[2.0, 0.5]])
    attack = PGD(Linf(3.0), steps=10, step=0.4, random_start=False)
    attacked = attack(Logits(model, torch.tensor([0])), x, limits=limits)
    assert attacked.x.tolist() == [[-1.0, 0.5]]
    assert attacked.succeeded.all()


def test_at_least_one_step():
    for settings in ({"steps": 0}, {"steps": 3, "restarts": 0}):
        with pytest.raises(SettingError, match="at least 1"):
            Plan(pace=lambda _: Steady(0.1, 0.0), **settings)
