"""Each kind of score compared with the space's own, against loops over pairs and queries."""

from dataclasses import replace

import pytest
import torch

from samekind.data import Items, clusters
from samekind.inference.standings import measure_embedded, standings
from samekind.measures import equal_error_rate
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Euclidean, PairsNetwork
from samekind.space import MetricSpace

ITEMS = clusters(classes=5, items=6, dimension=3, spread=0.8, seed=1)


def a_space(similarity):
    return MetricSpace(torch.nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


def network():
    torch.manual_seed(0)
    return PairsNetwork(dimension=3, hidden=6)


def directions(items, lengths):
    """The items on the sphere, times a length each: the cosine does not see the lengths, a distance does."""
    inputs = torch.nn.functional.normalize(items.inputs, dim=1) * lengths[:, None]
    return Items(inputs=inputs, labels=items.labels, classes=items.classes, name="turned")


def by_hand(space, items, kind):
    """The equal error of all pairs, the earlier item first, and the share that find their class first."""
    x, labels = items.inputs, items.labels.tolist()
    count = len(labels)
    score = [
        [float(space.score(x[i : i + 1], x[j : j + 1], kind=kind)) for j in range(count)]
        for i in range(count)
    ]
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    rate = equal_error_rate(
        torch.tensor([score[i][j] for i, j in pairs]),
        torch.tensor([labels[i] == labels[j] for i, j in pairs]),
    ).rate
    asked = [i for i in range(count) if labels.count(labels[i]) > 1]
    nearest = [max((j for j in range(count) if j != i), key=lambda j, i=i: score[i][j]) for i in asked]
    right = sum(labels[i] == labels[j] for i, j in zip(asked, nearest, strict=True))
    return rate, right / len(asked)


def test_the_figures_are_those_of_all_pairs_and_of_all_that_can_be_found():
    alone = ITEMS.take(torch.arange(25))  # of the last class one item, which has nothing to find
    assert torch.bincount(alone.labels).tolist() == [6, 6, 6, 6, 1]
    space = a_space(network())
    with torch.no_grad():
        result = standings(space, alone)
        assert list(result) == ["similarity", "cosine", "fused"]
        for kind, value in result.items():
            assert (value.equal_error, value.recall) == pytest.approx(by_hand(space, alone, kind))
            assert value.measured_on == "clusters, classes not trained on"
    assert (result["similarity"].error_gain, result["similarity"].recall_gain) == (None, None)
    for kind in ("cosine", "fused"):
        gain = result["similarity"].equal_error - result[kind].equal_error
        assert sum(result[kind].error_gain) / 2 == pytest.approx(gain)


def test_only_a_clearly_better_score_is_reported():
    generator = torch.Generator().manual_seed(0)
    items = clusters(classes=8, items=12, dimension=3, spread=0.05, seed=1)
    lengths = torch.exp(3 * torch.randn(len(items.labels), generator=generator))
    better = standings(a_space(Euclidean()), directions(items, lengths))["cosine"]
    assert better.errs_less
    assert better.finds_more
    alike = standings(a_space(Euclidean()), directions(items, torch.ones(len(items.labels))))["cosine"]
    assert not alike.errs_less
    assert not alike.finds_more


def test_two_classes_give_no_interval_of_errors():
    result = standings(a_space(Euclidean()), ITEMS.only(ITEMS.classes[:2]))
    assert result["cosine"].error_gain is None
    assert result["cosine"].recall_gain is not None


def test_a_space_of_one_kind_has_one():
    result = standings(a_space(Cosine()), ITEMS)
    assert list(result) == ["similarity"]


def test_of_many_items_some_are_drawn_and_a_note_says_so():
    result = standings(a_space(Euclidean()), ITEMS, most_items=20)
    assert result["cosine"].measured_on == "20 items drawn from clusters, classes not trained on"
    assert result == standings(a_space(Euclidean()), ITEMS, most_items=20)


@pytest.mark.parametrize("places", [[0, 1, 2], [0, 6, 12]])
def test_without_pairs_of_both_kinds_there_is_nothing_to_measure(places):
    assert standings(a_space(Euclidean()), ITEMS.take(torch.tensor(places))) == {}


def test_items_of_one_group_are_not_compared():
    """By hand, without the pairs of a group."""
    items = clusters(classes=4, items=6, dimension=3, spread=0.8, seed=2)
    groups = torch.arange(24) // 2
    grouped = replace(items, groups=groups)
    space = a_space(Euclidean())
    result = standings(space, grouped)["similarity"]
    x, labels = items.inputs, items.labels.tolist()
    scores = [[float(space.score(x[i : i + 1], x[j : j + 1])) for j in range(24)] for i in range(24)]
    apart = [(i, j) for i in range(24) for j in range(24) if groups[i] != groups[j]]
    rate = equal_error_rate(
        torch.tensor([scores[i][j] for i, j in apart if i < j]),
        torch.tensor([labels[i] == labels[j] for i, j in apart if i < j]),
    ).rate
    nearest = [max((j for i, j in apart if i == query), key=scores[query].__getitem__) for query in range(24)]
    assert result.equal_error == pytest.approx(rate)
    assert result.recall == pytest.approx(sum(labels[i] == labels[j] for i, j in enumerate(nearest)) / 24)
    assert result.measured_on.endswith(", own group left out")
    assert result != standings(space, items)["similarity"]


def test_classes_that_were_not_trained_on_come_before_known_ones():
    space = a_space(Euclidean())
    space.prototypes.assign(
        ["0", "1"], torch.stack([ITEMS.inputs[:6].mean(0), ITEMS.inputs[6:12].mean(0)])[:, None]
    )
    result = standings(space, ITEMS)["similarity"]
    unknown = standings(a_space(Euclidean()), ITEMS.only(["2", "3", "4"]))["similarity"]
    assert (result.equal_error, result.recall) == (unknown.equal_error, unknown.recall)
    few = standings(space, ITEMS.only(["0", "1", "2"]))["similarity"]  # one new class has no other
    assert few.measured_on == "clusters, known classes"


def test_embeddings_are_measured_like_items():
    labels = ITEMS.labels + 7
    measured = measure_embedded(a_space(Euclidean()), ITEMS.inputs, labels, measured_on="five classes")
    assert measured.balances == {}
    for kind, standing in standings(a_space(Euclidean()), ITEMS).items():
        assert measured.standings[kind] == replace(standing, measured_on="five classes")
