"""Goals: the decision of the model itself, its value, and parts of a batch."""

import pytest
import torch

from samekind.attacks import Logits
from samekind.attacks.goal import Part, raised, reached, slope
from samekind.errors import DataError


def test_a_part_is_about_its_own_items(trained):
    model, x, labels = trained
    whole, rows = Logits(model, labels, target=(labels + 1) % 4), torch.tensor([4, 2, 9])
    part = Part(whole, rows)
    assert part.truth.tolist() == labels[rows].tolist()
    assert part.target.tolist() == ((labels[rows] + 1) % 4).tolist()
    places = torch.tensor([2, 0])
    torch.testing.assert_close(part.outcomes(x[rows[places]], places), model(x)[rows[places]])


def test_the_slope_is_the_gradient_of_each_item(trained):
    model, x, labels = trained
    rows = torch.arange(5)
    given = slope(Logits(model, labels), x[:5], rows)
    one = x[3:4].clone().requires_grad_()
    torch.nn.functional.cross_entropy(model(one), labels[3:4]).backward()
    torch.testing.assert_close(given.gradient[3:4], one.grad)


def test_a_target_is_raised_and_reached():
    outcomes = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    plain = Logits(torch.nn.Identity(), torch.tensor([0, 0]))
    aimed = Logits(torch.nn.Identity(), torch.tensor([0, 0]), target=torch.tensor([1, 1]))
    rows = torch.arange(2)
    assert reached(plain, outcomes, rows).tolist() == [False, True]
    assert reached(aimed, outcomes, rows).tolist() == [False, True]
    expected = outcomes.log_softmax(1)[:, 1]
    torch.testing.assert_close(raised(aimed, outcomes, rows), expected)
    torch.testing.assert_close(raised(plain, outcomes, rows), -outcomes.log_softmax(1)[:, 0])


def test_one_outcome_is_raised_and_never_reached():
    goal = Logits(torch.nn.Identity(), torch.zeros(2, dtype=torch.long))
    outcomes = torch.tensor([[2.0], [-1.0]])
    assert not reached(goal, outcomes, torch.arange(2)).any()
    assert raised(goal, outcomes, torch.arange(2)).tolist() == [2.0, -1.0]


def test_outcomes_without_a_gradient_are_refused():
    class Rounded(torch.nn.Module):
        def forward(self, x):
            return x.detach().round()

    with pytest.raises(DataError, match="without gradients"):
        slope(Logits(Rounded(), torch.tensor([0])), torch.rand(1, 3), torch.arange(1))
