"""How classes are related, against loops."""

import itertools

import pytest
import torch
from torch import nn

from samekind.errors import SpaceError
from samekind.inference import class_tree
from samekind.inference.relations import class_distances, class_scores, joins
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean, PairsNetwork
from samekind.space import MetricSpace


def a_space(vectors, similarity=None):
    names = [f"class {place}" for place in range(len(vectors))]
    prototypes = SupportMeans(names, dimension=vectors.shape[-1])
    prototypes.assign(names, vectors[:, None])
    return MetricSpace(nn.Identity(), similarity or Euclidean(), prototypes)


def test_scores_are_those_of_the_prototypes_in_both_orders():
    torch.manual_seed(0)
    vectors = torch.randn(4, 3)
    space = a_space(vectors, PairsNetwork(dimension=3, hidden=5, depth=1, dropout=0.5)).train()
    result = class_scores(space)
    space.eval()
    with torch.no_grad():
        for one, other in itertools.product(range(4), repeat=2):
            scores = [space.score(vectors[[a]], vectors[[b]]) for a, b in ((one, other), (other, one))]
            assert float(result[one, other]) == pytest.approx(float(sum(scores)) / 2, abs=1e-5)


def test_the_most_alike_are_joined_first():
    """On a line, at 0, 1, 5 and 5.5: the last two, the first two, then both groups at their mean distance."""
    space = a_space(torch.tensor([[0.0], [1.0], [5.0], [5.5]]))
    tree = class_tree(space)
    joined = joins(tree, class_scores(space), space.classes)
    assert [{*value.first, *value.second} for value in joined] == [
        {"class 2", "class 3"},
        {"class 0", "class 1"},
        {"class 0", "class 1", "class 2", "class 3"},
    ]
    expected = [-0.5, -1.0, -(5 + 5.5 + 4 + 4.5) / 4]
    assert [value.score for value in joined] == pytest.approx(expected, abs=1e-5)
    apart = [float(tree.distances([value.first[0], value.second[0]])[0, 1]) for value in joined]
    assert apart == pytest.approx([-score for score in expected], abs=1e-5)


def test_distances_on_a_line_give_its_order_by_neighbour_joining():
    space = a_space(torch.tensor([[0.0], [1.0], [5.0], [5.5]]))
    tree = class_tree(space, method="neighbour-joining")
    torch.testing.assert_close(tree.distances(space.classes), class_distances(space), atol=1e-6, rtol=0)
    joined = joins(tree, class_scores(space), space.classes)
    assert len(joined) == 3
    assert {*joined[-1].first, *joined[-1].second} == set(space.classes)


def test_one_class_is_related_to_none():
    with pytest.raises(SpaceError, match="expected two classes or more, to be related; this space has 1"):
        class_tree(a_space(torch.zeros(1, 2)))
