"""Items of known and of other classes, by hand."""

import torch
from torch import nn

from samekind import Items
from samekind.inference.known_classes import class_names, divided, knows, labels_in
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

SPACE = MetricSpace(nn.Identity(), Cosine(), SupportMeans(["b", "a"], dimension=2))
ITEMS = Items(torch.zeros(4, 2), torch.tensor([0, 2, 1, 0]), ("a", "b", "c", "d"), "four")


def test_labels_are_those_of_the_space():
    assert labels_in(SPACE, ITEMS).tolist() == [1, -1, 0, 1]
    assert labels_in(SPACE, ITEMS.take(torch.tensor([], dtype=torch.int64))).tolist() == []


def test_a_class_counts_if_it_has_items():
    assert class_names(ITEMS) == {"a", "b", "c"}
    assert not knows(SPACE, ITEMS)
    assert knows(SPACE, ITEMS.take(torch.tensor([0, 2])))


def test_items_are_divided_in_their_order():
    known, others = divided(SPACE, ITEMS)
    assert (known.labels.tolist(), others.labels.tolist()) == ([0, 1, 0], [2])
