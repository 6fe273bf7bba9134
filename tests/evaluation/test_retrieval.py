"""Recall at k against a loop over queries."""

import pytest
import torch
from torch import nn

from samekind import similarities
from samekind.data import clusters
from samekind.evaluation import retrieval
from samekind.prototypes import SupportMeans
from samekind.space import MetricSpace

ITEMS = clusters(classes=4, items=4, dimension=3, spread=1.0)


def a_space(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    needed = {"PairsNetwork": {"dimension": 3, "hidden": 8}, "Mahalanobis": {"dimension": 3}}
    similarity = kind(**needed.get(name, {}))
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


@torch.no_grad()
def by_hand(space, items, kind, k):
    """The share of items with one of their class among the k most alike of the others."""
    hits = 0
    for query in range(len(items)):
        others = [index for index in range(len(items)) if index != query]
        score = {
            index: float(
                space.score(items.inputs[query : query + 1], items.inputs[index : index + 1], kind=kind)
            )
            for index in others
        }
        best = sorted(others, key=lambda index: -score[index])[:k]
        hits += any(items.labels[index] == items.labels[query] for index in best)
    return hits / len(items)


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_agrees_with_a_loop_for_each_kind_of_score(name):
    space = a_space(name)
    rows = retrieval(space, ITEMS, ITEMS.inputs, name="unseen", ks=(1, 3))
    assert [(row.measure, row.kind) for row in rows] == [
        (f"Recall@{k}", kind) for kind in space.kinds for k in (1, 3)
    ]
    for row in rows:
        assert row[:2] == ("retrieval", "unseen")
        assert row.value == by_hand(space, ITEMS, row.kind, int(row.measure.partition("@")[2]))


def test_an_item_is_not_its_own_neighbour():
    """One item a class: whoever found himself would be right every time."""
    items = clusters(classes=5, items=1, dimension=3)
    rows = retrieval(a_space("Cosine"), items, items.inputs, name="seen", ks=(1, 4))
    assert [row.value for row in rows] == [0.0, 0.0]


def test_k_beyond_the_gallery_is_left_out():
    few = ITEMS.take(torch.tensor([0, 1, 4, 5]))
    rows = retrieval(a_space("Cosine"), few, few.inputs, name="seen")
    assert [row.measure for row in rows] == ["Recall@1", "Recall@2"]
    alone = ITEMS.take(torch.tensor([0]))
    assert retrieval(a_space("Cosine"), alone, alone.inputs, name="seen") == []


def test_clear_classes_are_found_at_once():
    items = clusters(classes=3, items=3, dimension=3, spread=0.01)
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=3))
    assert {row.value for row in retrieval(space, items, items.inputs, name="seen")} == {1.0}
