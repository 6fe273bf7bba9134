"""Leads of rivals, the nearest success so far, and what is asked of the model."""

import pytest
import torch

from samekind.attacks import FAB, PICTURES, CarliniWagner, DeepFool, HopSkipJump, Limits, Logits, Raised
from samekind.attacks.goal import Part
from samekind.attacks.nearest import Nearest, box, leads
from samekind.errors import SettingError


def test_leads_are_the_best_rivals_less_the_truth():
    outcomes = torch.tensor([[1.0, 5.0, 2.0, 4.0], [0.0, 3.0, 9.0, 1.0]])
    items, truth = torch.arange(2), torch.tensor([1, 0])
    goal = Part(Logits(torch.nn.Identity(), truth), items)
    assert leads(goal, outcomes, items, rivals=2).tolist() == [[-1, -3], [9, 3]]
    assert leads(goal, outcomes, items, rivals=9).shape == (2, 3)
    aimed = Part(Logits(torch.nn.Identity(), truth, target=torch.tensor([3, 2])), items)
    assert leads(aimed, outcomes, items, rivals=2).tolist() == [[-1], [6]]


def test_the_nearest_success_is_remembered_and_nothing_else():
    goal = Part(Logits(torch.nn.Identity(), torch.tensor([0, 0])), torch.arange(2))
    clean = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    nearest = Nearest(goal, clean, Limits(), "l2")
    nearest.ask(torch.tensor([[1.0, 3.0], [1.0, 0.5]]), nearest.items)
    assert nearest.distance.tolist() == [3.0, torch.inf]
    nearest.ask(torch.tensor([[1.0, 2.0]]), torch.tensor([0]))
    assert nearest.succeeds(torch.tensor([[1.0, 9.0]]), torch.tensor([0])).tolist() == [True]
    assert nearest.answers(clean[[0, 0, 0]], torch.tensor([0, 0, 0])).tolist() == [False] * 3
    x, queries = nearest.point()
    assert x.tolist() == [[1.0, 2.0], [1.0, 0.0]]
    assert queries.tolist() == [6, 1]


def test_the_model_is_asked_about_whole_numbers_with_the_gradient_of_the_numbers_between():
    goal = Part(Logits(torch.nn.Identity(), torch.tensor([0])), torch.arange(1))
    clean = torch.tensor([[3.0, 0.0]])
    nearest = Nearest(goal, clean, Limits(integer=torch.tensor([True, False])), "l2")
    x = torch.tensor([[1.4, 2.5]], requires_grad=True)
    ahead = nearest.ask(x, nearest.items)
    assert ahead.tolist() == [[0.5]]
    assert torch.autograd.grad(ahead.sum(), x)[0].tolist() == [[-1.0, 1.0]]
    assert nearest.x.tolist() == [[2.0, 2.5]]


def test_the_box_is_the_range_of_free_columns():
    clean = torch.tensor([[0.2, 0.4], [0.6, 0.8]])
    low, high = box(Limits(0.0, torch.tensor([1.0, 2.0]), fixed=torch.tensor([True, False])), clean)
    torch.testing.assert_close(low, torch.tensor([[0.2, 0.0], [0.6, 0.0]]))
    torch.testing.assert_close(high, torch.tensor([[0.2, 2.0], [0.6, 2.0]]))


@pytest.mark.parametrize("attack", [CarliniWagner(), DeepFool(), FAB(), HopSkipJump()])
def test_a_goal_without_success_has_no_least_change(trained, attack):
    model, x, labels = trained
    with pytest.raises(SettingError, match="no wrong answer"):
        attack(Raised(Logits(model, labels)), x, limits=PICTURES)
