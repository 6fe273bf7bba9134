"""Clustering: k-means with as many groups as classes, against loops and scikit-learn's measures."""

import dataclasses

import pytest
import torch
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
from torch import nn

from samekind.data import clusters
from samekind.evaluation import clustering
from samekind.inference import cluster
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Dot, Euclidean, PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")


def a_space():
    torch.manual_seed(0)
    return MetricSpace(nn.Identity(), PairsNetwork(dimension=3, hidden=8), SupportMeans(dimension=3)).eval()


def f1_by_hand(groups, labels):
    """Two items in one group, as "of one class", pair by pair."""
    pairs = [(i, j) for i in range(len(labels)) for j in range(i)]
    grouped = {(i, j) for i, j in pairs if groups[i] == groups[j]}
    classed = {(i, j) for i, j in pairs if labels[i] == labels[j]}
    return 2 * len(grouped & classed) / (len(grouped) + len(classed))


@pytest.mark.parametrize(("spread", "seed"), [(0.05, 0), (0.8, 0), (0.8, 3)])
def test_agrees_with_the_plain_measures_of_both_kinds_of_groups(spread, seed):
    items, space = clusters(classes=4, items=6, dimension=3, spread=spread), a_space()
    rows = clustering(space, items, items.inputs, name="unseen", measures="all", seed=seed)
    assert [row[:4] for row in rows] == [
        ("clustering", "unseen", measure, kind)
        for measure in ("NMI", "AMI", "F1")
        for kind in ("embedding", "similarity")
    ]
    groups, centres = cluster(items.inputs, groups=4, seed=seed)
    with torch.no_grad():
        scores = [[float(space.score(c[None], x[None])) for c in centres] for x in items.inputs]
    assigned = {"embedding": groups.tolist(), "similarity": [score.index(max(score)) for score in scores]}
    measures = {"NMI": normalized_mutual_info_score, "AMI": adjusted_mutual_info_score, "F1": f1_by_hand}
    for row in rows:
        expected = measures[row.measure](assigned[row.kind], items.labels.tolist())
        assert row.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("similarity", "by_direction"), [(Cosine(), True), (Euclidean(normalise=True), True), (Dot(), False)]
)
def test_lengths_do_not_matter_for_a_cosine(similarity, by_direction):
    """Four directions, and far outside as well as near: as they are, length makes the groups."""
    items = clusters(classes=4, items=8, dimension=3, spread=0.01)
    lengths = torch.where(torch.arange(32) % 2 == 0, 1.0, 100.0)[:, None]
    space = MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()
    z = items.inputs / items.inputs.norm(dim=1, keepdim=True) * lengths
    embedding, _ = clustering(space, items, z, name="unseen")
    assert (embedding.value == 1) is by_direction


def test_the_main_measure_is_nmi_with_its_interval_over_items():
    items = clusters(classes=4, items=10, dimension=3, spread=0.8)
    rows = clustering(a_space(), items, items.inputs, name="seen")
    assert [row.measure for row in rows] == ["NMI", "NMI"]
    assert all(0 <= row.low < row.value < row.high <= 1 and row.unit == "items" for row in rows)
    assert rows == clustering(a_space(), items, items.inputs, name="seen")


def test_clear_groups_are_the_classes_and_say_nothing_about_their_spread():
    items = clusters(classes=3, items=5, dimension=3, spread=0.01)
    row = clustering(a_space(), items, items.inputs, name="seen")[0]
    assert row.value == 1
    assert (row.low, row.high, row.unit) == (None, None, "")


def test_it_asks_for_as_many_groups_as_there_are_classes_with_items():
    """A part of a data set keeps the names of all its classes; those without items have no group."""
    items = clusters(classes=5, items=6, dimension=3, spread=0.01)
    some = items.take((items.labels < 2).nonzero().flatten())
    assert clustering(a_space(), some, some.inputs, name="seen")[0].value == 1


def test_the_embeddings_decide_not_the_inputs():
    items = clusters(classes=3, items=5, dimension=3, spread=0.01)
    mixed = items.inputs[torch.randperm(15, generator=torch.Generator().manual_seed(0))]
    assert clustering(a_space(), items, mixed, name="seen")[0].value < 0.9


def test_items_that_belong_together_are_noted():
    """They are found together whatever their class is, and no measure here can leave that out."""
    items = clusters(classes=3, items=6, dimension=3)
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=3)).eval()
    grouped = dataclasses.replace(items, groups=torch.arange(18) // 2)
    notes = [clustering(space, value, items.inputs, name="x")[0].note for value in (items, grouped)]
    assert notes == ["", "own group among them"]
