"""Unknown classes named by their other items: against loops that leave out the item and its group."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.evaluation import unknown_classes
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=8, dimension=3, spread=1.2)
SPACE = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=3)).eval()
GROUPED = replace(ITEMS, groups=torch.arange(32) // 2)


def by_hand(items):
    """Centroid and majority of five, with everything of the item's group left out."""
    groups = torch.arange(len(items)) if items.groups is None else items.groups
    right = [0, 0]
    for place, x in enumerate(items.inputs):
        others = (groups != groups[place]).nonzero().flatten()
        distances = {}
        for label in range(4):
            # The mean of another class keeps the item's group, which has no items of it here.
            members = [other for other in others.tolist() if items.labels[other] == label]
            distances[label] = float((items.inputs[members].mean(0) - x).norm())
        truth = int(items.labels[place])
        right[0] += min(distances, key=distances.__getitem__) == truth
        order = others[(items.inputs[others] - x).norm(dim=1).argsort()][:5]
        votes = items.labels[order].tolist()
        right[1] += max(votes, key=lambda label: (votes.count(label), -votes.index(label))) == truth
    return [count / len(items) for count in right]


@pytest.mark.parametrize("items", [ITEMS, GROUPED], ids=["items", "groups"])
def test_agrees_with_loops(items):
    rows = unknown_classes(SPACE, items, items.inputs, name="unseen")
    assert [row.measure for row in rows] == ["centroid accuracy", "5-NN accuracy"]
    assert [row.value for row in rows] == pytest.approx(by_hand(items))
    assert 0.4 < rows[0].value < 1
    assert all((row.note != "") == (items.groups is not None) for row in rows)


def test_an_item_alone_in_its_class_does_not_count():
    alone = ITEMS.take(torch.arange(32)[ITEMS.labels.argsort(stable=True)][7:])  # one item of the first class
    rows = unknown_classes(SPACE, alone, alone.inputs, name="unseen")
    assert float(rows[0].value * 24).is_integer()


def test_known_classes_and_too_few_items_have_no_row():
    known = SupportMeans(dimension=3)
    known.assign(list(ITEMS.classes), torch.zeros(4, 1, 3))
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    assert unknown_classes(space, ITEMS, ITEMS.inputs, name="seen") == []
    few = ITEMS.take(torch.arange(4))
    assert unknown_classes(SPACE, few, few.inputs, name="unseen") == []
