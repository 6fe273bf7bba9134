"""Recall at k against a loop over queries."""

import dataclasses
import doctest
import importlib
import inspect
import sys

import pytest
import torch
from torch import nn

from samekind import similarities
from samekind.data import Items, clusters
from samekind.errors import DataError
from samekind.evaluation import left_out, query_gallery, retrieval
from samekind.prototypes import SupportMeans
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=4, dimension=3, spread=1.0)


def a_space(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    takes = inspect.signature(kind).parameters
    needed = {"dimension": 3} if "dimension" in takes else {}
    similarity = kind(**needed)
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
        (measure, kind) for kind in space.kinds for measure in ("Recall@1", "Recall@3", "MAP@R")
    ]
    for row in (row for row in rows if row.measure != "MAP@R"):
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
    assert [row.measure for row in rows] == ["Recall@1", "Recall@2", "MAP@R"]
    alone = ITEMS.take(torch.tensor([0]))
    assert retrieval(a_space("Cosine"), alone, alone.inputs, name="seen") == []


def test_clear_classes_are_found_at_once():
    items = clusters(classes=3, items=3, dimension=3, spread=0.01)
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=3))
    assert {row.value for row in retrieval(space, items, items.inputs, name="seen")} == {1.0}


BY_CLASS = "Recall@1 by class"


def precisions_by_hand(space, items, kind):
    """R-precision and MAP@R, query by query, from a list sorted by score."""
    values = []
    for query in range(len(items)):
        others = [i for i in range(len(items)) if i != query]
        with torch.no_grad():
            scores = {
                i: float(space.score(items.inputs[query][None], items.inputs[i][None], kind=kind))
                for i in others
            }
        hits = [
            bool(items.labels[i] == items.labels[query]) for i in sorted(others, key=lambda i: -scores[i])
        ]
        relevant = sum(hits)
        first = hits[:relevant]
        average = sum(sum(first[: rank + 1]) / (rank + 1) for rank in range(relevant) if first[rank])
        values.append((sum(first) / relevant, average / relevant))
    return [sum(value) / len(value) for value in zip(*values, strict=True)]


def test_recall_by_class_is_the_mean_of_what_each_class_has():
    items, space = ITEMS.take(torch.tensor([0, 1, 2, 3, 4, 5, 8, 9])), a_space("Euclidean")
    rows = retrieval(space, items, items.inputs, name="seen", ks=(1,), measures="all")
    with torch.no_grad():
        scores = space.score_all(items.inputs, items.inputs).fill_diagonal_(-torch.inf)
    right = items.labels[scores.argmax(1)] == items.labels
    by_class = [right[items.labels == label].double().mean() for label in items.labels.unique()]
    result = {row.measure: row for row in rows if row.kind == "similarity"}
    assert result[BY_CLASS].value == pytest.approx(float(sum(by_class) / len(by_class)))
    assert result["MRR@1"].value == result["MAP@1"].value == result["Recall@1"].value


def test_r_precision_and_map_at_r_agree_with_a_loop():
    space = a_space("PairsNetwork")
    rows = retrieval(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    for kind in space.kinds:
        result = {row.measure: row.value for row in rows if row.kind == kind}
        precision, average = precisions_by_hand(space, ITEMS, kind)
        assert result["R-precision"] == pytest.approx(precision)
        assert result["MAP@R"] == pytest.approx(average)


def test_five_neighbours_vote_and_three_decide():
    space = a_space("PairsNetwork")
    rows = retrieval(space, ITEMS, ITEMS.inputs, name="seen", measures="all", ks=(1,))
    for kind in space.kinds:
        right = 0
        for query in range(len(ITEMS)):
            others = [i for i in range(len(ITEMS)) if i != query]
            with torch.no_grad():
                scores = space.score_all(ITEMS.inputs[query][None], ITEMS.inputs, kind=kind)[0]
            nearest = sorted(others, key=lambda i: -float(scores[i]))[:5]
            right += sum(bool(ITEMS.labels[i] == ITEMS.labels[query]) for i in nearest) >= 3
        result = [row.value for row in rows if row.measure == "kNN accuracy" and row.kind == kind]
        assert result == [pytest.approx(right / len(ITEMS))]
    main = retrieval(space, ITEMS, ITEMS.inputs, name="seen", ks=(1,))
    assert "kNN accuracy" not in {row.measure for row in main}
    five = ITEMS.take(torch.tensor([0, 1, 4, 5, 8]))
    assert "kNN accuracy" not in {
        row.measure for row in retrieval(space, five, five.inputs, name="seen", measures="all", ks=(1,))
    }


def test_intervals_are_over_queries_and_fixed_by_the_seed():
    space = a_space("Euclidean")
    rows = retrieval(space, ITEMS, ITEMS.inputs, name="seen", ks=(1,), seed=1)
    assert all(0 <= row.low < row.value < row.high <= 1 and row.unit == "queries" for row in rows)
    assert rows == retrieval(space, ITEMS, ITEMS.inputs, name="seen", ks=(1,), seed=1)


@pytest.mark.parametrize("measures", ["main", "all"])
def test_without_a_possible_rank_the_other_measures_remain(measures):
    """The items of its class are searched for, however far the ranks are."""
    items = clusters(classes=4, items=5, dimension=3, spread=1.0)
    space = a_space("Euclidean")
    rows = retrieval(space, items, items.inputs, name="seen", ks=(100,), measures=measures)
    near = retrieval(space, items, items.inputs, name="seen", ks=(1,), measures=measures)
    assert "MAP@R" in {row.measure for row in rows}
    assert rows == [row for row in near if row.measure.family not in ("MRR@k", "MAP@k", "Recall@k", BY_CLASS)]


def test_a_rank_that_is_left_out_gets_a_sentence():
    items = clusters(classes=4, items=5, dimension=3, spread=1.0)
    rows = retrieval(a_space("Euclidean"), items, items.inputs, name="seen", ks=(1, 19, 20, 1000, 20))
    other = rows[0]._replace(question="reference", items="unseen")
    assert left_out([*rows, other], (1, 19, 20, 1000, 20)) == [
        f"Recall@{name}, seen: not measured, as there are fewer than {written} other items to search"
        for name, written in (("20", "20"), ("1000", "1,000"))
    ]
    assert left_out(rows, (1, 19)) == left_out([], (1,)) == []


def test_doctests():
    assert doctest.testmod(sys.modules[retrieval.__module__]).failed == 0


def test_few_neighbours_at_a_time_are_all_of_them(monkeypatch):
    space = a_space("Euclidean")
    whole = retrieval(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    monkeypatch.setattr(importlib.import_module("samekind.evaluation.retrieval"), "MOST_NEIGHBOURS", 20)
    assert retrieval(space, ITEMS, ITEMS.inputs, name="seen", measures="all") == whole


def test_queries_against_a_gallery_of_the_same_items_find_themselves():
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=3))
    rows = query_gallery(space, ITEMS, ITEMS.inputs, ITEMS, ITEMS.inputs, name="seen", ks=(1,))
    assert {row.value for row in rows if row.measure == "Recall@1" and row.kind == "similarity"} == {1.0}


def test_classes_are_matched_by_name():
    """The gallery counts its classes the other way round, and has one nobody asks about."""
    gallery = ITEMS.only(list(reversed(ITEMS.classes)))
    queries = ITEMS.only([ITEMS.classes[2], ITEMS.classes[0]])
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=3))
    rows = query_gallery(space, queries, queries.inputs, gallery, gallery.inputs, name="seen", ks=(1,))
    assert rows[0].value == 1


@pytest.mark.parametrize("ignore", ["domain", "group"])
def test_ignores_the_query_s_camera_and_class_or_its_group(ignore):
    labels, cameras = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 0, 1, 0, 0])
    places = torch.tensor([[0.0], [0.1], [5.0], [1.0], [9.0]])
    beside = {"domains": cameras}
    if ignore == "group":  # with a b of the query's group, which is passed over as well
        beside = {"groups": torch.tensor([0, 0, 1, 2, 0])}
    items = Items(places, labels, ("a", "b"), "people", **beside)
    query = items.take(torch.tensor([0]))
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=1))
    both = (space, query, query.inputs, items, items.inputs)
    seen = query_gallery(*both, name="x", ks=(1, 2), measures="all", ignore=ignore)
    result = {row.measure: row.value for row in seen if row.kind == "similarity"}
    # Left are b at 1 and a, before another camera, at 5: one to be found, in the second place.
    assert result == {
        "Recall@1": 0,
        "Recall@2": 1,
        "MAP@R": 0,
        "R-precision": 0,
        "MRR@2": 0.5,
        "MAP@2": 0.5,
        BY_CLASS: 0,
    }
    whole = query_gallery(*both, name="x", ks=(1,))
    assert whole[0].value == 1


def test_ignoring_domains_needs_domains():
    space = a_space("Cosine")
    with pytest.raises(DataError, match="needs a domain for each item"):
        query_gallery(space, ITEMS, ITEMS.inputs, ITEMS, ITEMS.inputs, name="x", ignore="domain")


def test_no_item_finds_its_own_group():
    """Each class has two groups of near-copies, and one class has one: that is found, and not asked about."""
    labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3])
    groups = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6])
    x = torch.tensor([0.0, 0.1, 4.0, 4.1, 3.0, 3.1, 9.0, 9.1, 8.0, 8.1, 20, 20.1])[:, None]
    items = Items(x, labels, ("a", "b", "c", "d"), "copies", groups=groups)
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=1))
    rows = retrieval(space, items, x, name="seen", ks=(1, 4), measures="all")
    result = {row.measure: row for row in rows if row.kind == "similarity"}
    hits = {1: 0, 4: 0}
    for query in (*range(8), 10, 11):
        others = [i for i in range(12) if groups[i] != groups[query]]
        order = sorted(others, key=lambda i, query=query: abs(float(x[i] - x[query])))
        for k in hits:
            hits[k] += any(labels[i] == labels[query] for i in order[:k])
    assert {k: result[f"Recall@{k}"].value for k in hits} == {k: count / 10 for k, count in hits.items()}
    assert result["Recall@1"].value < 0.5
    note = "own group left out, 3 of 4 classes have another"
    assert {row.note for row in rows} == {note}
    both = query_gallery(space, items, x, items, x, name="seen", ignore="group", ks=(1, 4), measures="all")
    assert [row._replace(note=note) for row in both] == rows
    assert {row.note for row in both} == {"own group left out"}
    plain = retrieval(space, dataclasses.replace(items, groups=None), x, name="seen", ks=(1,))
    assert plain[0].value == 1
    assert plain[0].note == ""


def test_one_large_group_does_not_take_a_measure_away():
    """Queries of a small group have more to find than is left for those of a large one."""
    labels = torch.tensor([0] * 20 + [1] * 10)
    groups = torch.tensor([0] * 14 + [1, 1, 2, 2, 3, 3] + [4] * 5 + [5] * 5)
    x = torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    items = Items(x, labels, ("a", "b"), "uneven", groups=groups)
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=3))
    result = {
        row.measure: row.value for row in retrieval(space, items, x, name="x") if row.kind == "similarity"
    }
    values = []
    for query in range(30):
        others = [i for i in range(30) if groups[i] != groups[query]]
        order = sorted(others, key=lambda i, query=query: float((x[i] - x[query]).norm()))
        hits = [bool(labels[i] == labels[query]) for i in order]
        relevant = sum(hits)
        assert relevant <= len(order)
        values.append(
            sum(sum(hits[: rank + 1]) / (rank + 1) for rank in range(relevant) if hits[rank]) / relevant
        )
    assert result["MAP@R"] == pytest.approx(sum(values) / 30)
    assert set(result) == {"Recall@1", "Recall@2", "Recall@4", "Recall@8", "MAP@R"}


def test_a_query_with_only_its_own_group_to_find_does_not_count():
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    items = Items(x, torch.tensor([0, 0, 1, 1]), ("a", "b"), "x", groups=torch.tensor([0, 0, 0, 0]))
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=1))
    assert query_gallery(space, items, x, items, x, name="x", ignore="group") == []
