"""Clustering: k-means with as many groups as classes, against scikit-learn and its measure."""

import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from samekind.data import clusters
from samekind.evaluation import Row, clustering


@pytest.mark.parametrize(("spread", "seed"), [(0.05, 0), (0.8, 0), (0.8, 3)])
def test_agrees_with_scikit_learn(spread, seed):
    items = clusters(classes=4, items=6, dimension=3, spread=spread)
    (row,) = clustering(items, items.inputs, name="unseen", seed=seed)
    groups = KMeans(n_clusters=4, n_init=10, random_state=seed).fit(items.inputs.double().numpy()).labels_
    assert row[:4] == ("clustering", "unseen", "NMI", "embedding")
    assert row.value == pytest.approx(normalized_mutual_info_score(items.labels, groups))


def test_clear_groups_are_the_classes():
    items = clusters(classes=3, items=5, dimension=3, spread=0.01)
    assert clustering(items, items.inputs, name="seen") == [
        Row("clustering", "seen", "NMI", "embedding", 1.0)
    ]


def test_it_asks_for_as_many_groups_as_there_are_classes_with_items():
    """A part of a data set keeps the names of all its classes; those without items have no group."""
    items = clusters(classes=5, items=6, dimension=3, spread=0.01)
    some = items.take((items.labels < 2).nonzero().flatten())
    assert clustering(some, some.inputs, name="seen")[0].value == 1


def test_the_embeddings_decide_not_the_inputs():
    items = clusters(classes=3, items=5, dimension=3, spread=0.01)
    mixed = items.inputs[torch.randperm(15, generator=torch.Generator().manual_seed(0))]
    assert clustering(items, mixed, name="seen")[0].value < 0.9
