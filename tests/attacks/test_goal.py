"""Goals: the decision of the model itself, its value, and parts of a batch."""

import pytest
import torch

from samekind import AuxiliaryHead, MetricSpace
from samekind.attacks import PGD, Classes, Limits, Linf, Logits, Raised, margin
from samekind.attacks.goal import Part, Revalued, raised, reached, slope
from samekind.encoders import MLP
from samekind.errors import DataError
from samekind.prototypes import LearnedProxies
from samekind.similarities import Dot, PairsNetwork


@pytest.fixture(scope="module")
def space():
    """Three classes, a learned similarity, and a dense head beside it that holds its classes otherwise."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        names = ["a", "b", "c"]
        head = AuxiliaryHead(Dot(), LearnedProxies(["c", "a", "b"], dimension=8), bias=True)
        encoder = MLP(inputs=5, hidden=[16], dimension=8)
        return MetricSpace(
            encoder, PairsNetwork(dimension=8, hidden=16), LearnedProxies(names, dimension=8), auxiliary=head
        ).double()


@pytest.mark.parametrize("head", ["similarity", "auxiliary", "fused"])
def test_the_classes_of_a_space_are_what_it_answers(space, head):
    x = torch.rand(30, 5, generator=torch.Generator().manual_seed(2)).double()
    z = space.eval().embed(x)
    names = space.classify(z, head=head).classes
    truth = torch.tensor([space.classes.index(name) for name in names])
    attacked = PGD(Linf(2.0), steps=20)(Classes(space, truth, head=head), x, limits=Limits())
    after = space.classify(space.embed(attacked.x), head=head).classes
    changed = [one != other for one, other in zip(names, after, strict=True)]
    assert attacked.succeeded.tolist() == changed
    assert any(changed)


def test_a_kind_of_score_may_be_named(space):
    x = torch.rand(4, 5, generator=torch.Generator().manual_seed(2)).double()
    goal = Classes(space, torch.zeros(4, dtype=torch.long), kind="cosine")
    z = space.eval().embed(x)
    expected = (space.scorer("cosine").scale() * space.score_classes(z, kind="cosine")).log_softmax(1)
    torch.testing.assert_close(goal.outcomes(x, torch.arange(4)), expected)


def test_another_objective_and_a_goal_that_is_only_raised(trained):
    model, x, labels = trained
    goal, rows = Logits(model, labels), torch.arange(3)
    outcomes = goal.outcomes(x[:3], rows)
    assert torch.equal(Revalued(goal, margin).value(outcomes, labels[:3]), margin(outcomes, labels[:3]))
    only = Raised(Revalued(goal, margin))
    assert torch.equal(only.outcomes(x[:3], rows)[:, 0], margin(outcomes, labels[:3]))
    assert not reached(only, only.outcomes(x[:3], rows), rows).any()


def test_a_part_of_a_part_is_a_part_of_the_whole(trained):
    model, _, labels = trained
    part = Part(Part(Logits(model, labels), torch.tensor([4, 2, 9])), torch.tensor([2, 1]))
    assert part.items.tolist() == [9, 2]
    assert part.truth.tolist() == labels[[9, 2]].tolist()


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
