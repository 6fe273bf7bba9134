"""The loop: the worst point is kept, and iterates may lie between whole numbers."""

import pytest
import torch

from samekind.attacks import APGD, PGD, PICTURES, Limits, Linf, Logits, ascent
from samekind.attacks.ascent import Plan, Worst
from samekind.attacks.paces import Steady
from samekind.errors import SettingError


def seen(*, stop):
    """Three items, twice: no success then one, one then none, and two with a higher value the second time."""
    worst = Worst(torch.zeros(3, 1))
    first, second = torch.tensor([False, True, True]), torch.tensor([True, False, True])
    worst.see(torch.full((3, 1), 1.0), torch.tensor([5.0, 5.0, 5.0]), first, stop=stop)
    worst.see(torch.full((3, 1), 2.0), torch.tensor([3.0, 9.0, 9.0]), second, stop=stop)
    assert worst.reached.all()
    return worst


def test_success_comes_before_value():
    worst = seen(stop=False)
    assert worst.x[:, 0].tolist() == [2.0, 1.0, 2.0]
    assert worst.queries.tolist() == [2, 2, 2]


def test_the_first_success_is_the_last_point_that_is_taken():
    worst = seen(stop=True)
    assert worst.x[:, 0].tolist() == [2.0, 1.0, 1.0]
    assert worst.value.tolist() == [3.0, 5.0, 5.0]
    assert worst.queries.tolist() == [2, 1, 1]


@pytest.mark.parametrize("attack", [PGD(Linf(0.12), steps=7, restarts=2), APGD(Linf(0.12), steps=7)])
def test_when_items_are_dropped_changes_nothing(trained, attack, monkeypatch):
    """A GPU is asked less often which items are done."""
    model, x, labels = trained
    goal = Logits(model, labels)
    often = attack(goal, x, limits=PICTURES)
    monkeypatch.setattr(ascent, "how_often", lambda _: 3)
    seldom = attack(goal, x, limits=PICTURES)
    assert 0 < int(often.succeeded.sum()) < len(x)
    for name in ("x", "succeeded", "queries"):
        torch.testing.assert_close(getattr(often, name), getattr(seldom, name))


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
