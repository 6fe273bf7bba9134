"""Class by class: strangers beside each other, and what missed classes are taken for."""

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.prototypes import SupportMeans
from samekind.reports.class_section import class_section
from samekind.reports.measured import Measured, System
from samekind.similarities import Euclidean
from samekind.space import MetricSpace
from samekind.taxonomy import Tree

NAMES = ("cat", "dog", "<shark>", "ray")
TREE = Tree(("animals", "mammals", "fish", *NAMES), (-1, 0, 0, 1, 1, 2, 2))


def section(places, items=10, *, tree=TREE, label=0):
    """A space with its classes at these places, and items of one class at the first two of them."""
    known = SupportMeans(dimension=1)
    known.assign(list(NAMES), torch.tensor(places)[:, None, None])
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    space.tree = tree
    z = torch.tensor([places[0]] * 2 + [places[1]] * (items - 2) + [places[3]])[:, None]
    labels = torch.tensor([label] * items + [3])
    measured = Measured(Items(z, labels, NAMES, "some"), len(z), {"one": z}, {})
    return class_section({"one": System(space, [])}, {"seen": measured})


def test_names_strangers_and_what_a_class_is_taken_for():
    html = section([0.0, 5.0, 1.0, 9.0])
    assert "4 of the classes have a stranger" in html.caption
    assert "Of 2 classes 1 have items that were given another class" in html.caption
    assert "<td>cat</td><td>&lt;shark&gt;</td><td>4</td><td>2</td>" in html.html
    assert "<td>cat</td><td>10</td><td>20%</td><td>33%</td><td>dog 8 (2 steps)</td>" in html.html


def test_without_a_tree_only_very_unequal_classes_are_listed():
    assert "taken for" in section([0.0, 5.0, 1.0, 9.0], tree=None).html
    assert section([0.0, 5.0, 1.0, 9.0], 9, tree=None) is None


def test_nothing_wrong_is_no_section():
    assert section([0.0, 1.0, 8.0, 9.0], 2) is None


@pytest.mark.parametrize("classes", [30])
def test_the_tables_stay_short(classes):
    names = tuple(f"class {place}" for place in range(classes))
    tree = Tree(("root", "one", "two", *names), (-1, 0, 0, *(1 + place % 2 for place in range(classes))))
    known = SupportMeans(dimension=1)
    known.assign(list(names), torch.arange(float(classes))[:, None, None])
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    space.tree = tree
    z = torch.arange(float(classes))[:, None] + 0.6
    measured = Measured(Items(z, torch.arange(classes), names, "some"), classes, {"one": z}, {})
    html = class_section({"one": System(space, [])}, {"seen": measured})
    assert html.html.count("<tr>") == 2 * 13
    assert "the farthest" in html.caption
