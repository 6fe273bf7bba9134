"""Measures of retrieval against loops anyone can check by eye, and against scikit-learn."""

import doctest
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, top_k_accuracy_score

from samekind.measures import (
    RETRIEVAL_MEASURES,
    cumulative_match,
    map_at,
    map_at_r,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at,
    precision_at,
    r_precision,
    recall_at,
    reciprocal_rank_at,
    retrieval,
    retrieval_means,
    retrieval_values,
)


def by_hand(neighbours, labels, k):
    """The definition, one query at a time."""
    hits = 0
    for ranked, label in zip(neighbours.tolist(), labels.tolist(), strict=True):
        hits += label in ranked[:k]
    return hits / len(labels)


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 100))
def test_agrees_with_the_definition_and_never_falls(queries, ranks, seed):
    generator = torch.Generator().manual_seed(seed)
    neighbours = torch.randint(5, (queries, ranks), generator=generator)
    labels = torch.randint(5, (queries,), generator=generator)
    recall = recall_at(neighbours, labels, ks=range(1, ranks + 1))
    assert recall == {k: by_hand(neighbours, labels, k) for k in range(1, ranks + 1)}
    assert sorted(recall.values()) == list(recall.values())


def test_with_one_item_per_class_it_is_the_top_k_accuracy_of_scikit_learn():
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(30, 6, generator=generator)
    labels = torch.arange(30) % 6
    recall = recall_at(scores.argsort(1, descending=True), labels, ks=(1, 2, 4))
    for k, value in recall.items():
        assert value == pytest.approx(top_k_accuracy_score(labels.numpy(), scores.numpy(), k=k))


def test_a_hit_at_the_last_rank_counts_from_there_on():
    neighbours = torch.tensor([[1, 1, 1, 0, 1, 1, 1, 0]])
    assert recall_at(neighbours, torch.tensor([0])) == {1: 0.0, 2: 0.0, 4: 1.0, 8: 1.0}


def test_every_query_counts_once_however_many_neighbours_are_right():
    neighbours = torch.tensor([[0, 0], [0, 0]])
    assert recall_at(neighbours, torch.tensor([0, 1]), ks=(2,)) == {2: 0.5}


@pytest.mark.parametrize("k", [0, -1, 3])
def test_refuses_k_beyond_the_neighbours(k):
    with pytest.raises(ValueError, match=f"expected k from 1 to 2, .* got {k}"):
        recall_at(torch.zeros(4, 2), torch.zeros(4), ks=(1, k))


@pytest.mark.parametrize(("neighbours", "labels"), [((4,), (4,)), ((4, 2), (3,)), ((4, 2), (4, 1))])
def test_refuses_shapes_that_do_not_fit(neighbours, labels):
    with pytest.raises(ValueError, match=r"expected neighbours \(queries, ranks\) and labels"):
        recall_at(torch.zeros(neighbours), torch.zeros(labels), ks=(1,))


def values_by_hand(ranked, label, relevant, k):
    """The definitions, one query and one rank at a time."""
    hits = [int(value == label) for value in ranked]
    precision = [sum(hits[: rank + 1]) / (rank + 1) for rank in range(len(hits))]
    gain = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits[:k]))
    best = sum(1 / math.log2(rank + 2) for rank in range(min(k, relevant)))
    return {
        f"Recall@{k}": float(any(hits[:k])),
        f"Precision@{k}": precision[k - 1] if relevant else math.nan,
        f"nDCG@{k}": gain / best if relevant else math.nan,
        f"MRR@{k}": (1 / (hits.index(1) + 1) if any(hits[:k]) else 0.0) if relevant else math.nan,
        f"MAP@{k}": sum(precision[rank] * hits[rank] for rank in range(k)) / min(k, relevant)
        if relevant
        else math.nan,
        "R-precision": sum(hits[:relevant]) / relevant if relevant else math.nan,
        "MAP@R": sum(precision[rank] * hits[rank] for rank in range(relevant)) / relevant
        if relevant
        else math.nan,
        "MAP": sum(precision[rank] * hits[rank] for rank in range(len(hits))) / relevant
        if relevant
        else math.nan,
        "MRR": 1 / (hits.index(1) + 1) if relevant else math.nan,
    }


def whole_rankings(seed, queries=9, gallery=11, classes=4):
    """The labels of a gallery in a random order for each query; class 0 has nobody in it."""
    generator = torch.Generator().manual_seed(seed)
    items = torch.randint(1, classes, (gallery,), generator=generator)
    neighbours = torch.stack([items[torch.randperm(gallery, generator=generator)] for _ in range(queries)])
    labels = torch.arange(queries) % classes
    return neighbours, labels, (neighbours == labels[:, None]).sum(1)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 11))
def test_every_value_of_every_query_agrees_with_its_definition(seed, k):
    neighbours, labels, relevant = whole_rankings(seed)
    values = retrieval_values(neighbours, labels, relevant=relevant, ks=[k], measures=RETRIEVAL_MEASURES)
    for query, ranked in enumerate(neighbours.tolist()):
        expected = values_by_hand(ranked, int(labels[query]), int(relevant[query]), k)
        assert values.keys() == expected.keys()
        for name, value in expected.items():
            assert values[name][query].item() == pytest.approx(value, nan_ok=True), name


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_average_precision_and_ndcg_are_scikit_learn_s(seed):
    neighbours, labels, relevant = whole_rankings(seed)
    ranks = torch.arange(neighbours.shape[1], 0, -1).double()
    values = retrieval_values(neighbours, labels, relevant=relevant, ks=[4, 11], measures=["MAP", "nDCG"])
    for query in (relevant > 0).nonzero().flatten().tolist():
        hits = (neighbours[query] == labels[query]).numpy()
        assert values["MAP"][query].item() == pytest.approx(average_precision_score(hits, ranks.numpy()))
        for k in (4, 11):
            reference = ndcg_score(hits[None].astype(float), ranks.numpy()[None], k=k)
            assert values[f"nDCG@{k}"][query].item() == pytest.approx(reference)


def test_the_named_measures_are_means_over_the_queries_that_can_be_answered():
    neighbours, labels, relevant = whole_rankings(0)
    values = retrieval_values(neighbours, labels, relevant=relevant, ks=(1, 3), measures=RETRIEVAL_MEASURES)
    result = retrieval_means(values)
    assert (result.queries, result.left_out) == (9, int((relevant == 0).sum()))
    assert result.left_out == 3
    answered = relevant > 0
    for name, value in result.means.items():
        expected = values[name] if name.startswith("Recall") else values[name][answered]
        assert value == pytest.approx(expected.mean().item())
    given_ = {"relevant": relevant}
    assert precision_at(neighbours, labels, ks=(1, 3), **given_)[3] == result.means["Precision@3"]
    assert ndcg_at(neighbours, labels, ks=(3,), **given_) == {3: result.means["nDCG@3"]}
    assert r_precision(neighbours, labels, **given_) == result.means["R-precision"]
    assert map_at_r(neighbours, labels, **given_) == result.means["MAP@R"]
    assert mean_average_precision(neighbours, labels, **given_) == result.means["MAP"]
    assert mean_reciprocal_rank(neighbours, labels, **given_) == result.means["MRR"]
    assert reciprocal_rank_at(neighbours, labels, ks=(3,), **given_) == {3: result.means["MRR@3"]}
    assert map_at(neighbours, labels, ks=(3,), **given_) == {3: result.means["MAP@3"]}
    assert recall_at(neighbours, labels, ks=(3,))[3] == pytest.approx(result.means["Recall@3"])


def test_a_cut_list_needs_only_r_neighbours_but_not_fewer():
    neighbours, labels, relevant = whole_rankings(1)
    longest = int(relevant.max())
    cut = neighbours[:, :longest]
    for measure in (r_precision, map_at_r):
        assert measure(cut, labels, relevant=relevant) == measure(neighbours, labels, relevant=relevant)
        with pytest.raises(ValueError, match=f"expected at least {longest} .* search with k={longest}"):
            measure(neighbours[:, : longest - 1], labels, relevant=relevant)
    with pytest.raises(ValueError, match=r"expected whole rankings for MAP, .* or use MAP@R"):
        mean_average_precision(cut, labels, relevant=relevant)


def test_a_perfect_ranking_has_1_everywhere_and_the_worst_one_0():
    labels, relevant = torch.tensor([1]), torch.tensor([2])
    perfect, worst = torch.tensor([[1, 1, 0, 0]]), torch.tensor([[0, 0, 0, 0]])
    for name in RETRIEVAL_MEASURES:
        values = [
            retrieval_values(value, labels, relevant=relevant, ks=(2,), measures=[name])
            for value in ((perfect, worst) if name not in ("MAP", "MRR") else (perfect,))
        ]
        assert [float(next(iter(entry.values()))) for entry in values] == [1.0, 0.0][: len(values)]


def test_a_list_that_ends_before_the_first_hit_has_no_mrr():
    neighbours, labels, relevant = torch.tensor([[0, 1], [1, 1]]), torch.tensor([0, 0]), torch.tensor([1, 1])
    with pytest.raises(ValueError, match=r"a hit for MRR, got one of query 1 .*use MRR@k"):
        mean_reciprocal_rank(neighbours, labels, relevant=relevant)
    assert reciprocal_rank_at(neighbours, labels, relevant=relevant, ks=(2,)) == {2: 0.5}


def test_ignored_neighbours_are_as_if_they_had_never_been_found():
    neighbours, labels, relevant = whole_rankings(2)
    extra = torch.full((9, 2), 1)  # of a class that counts, so that leaving them in would be seen
    ignored = torch.cat([torch.ones(9, 1), torch.zeros(9, 11), torch.ones(9, 1)], 1).bool()
    longer = torch.cat([extra[:, :1], neighbours, extra[:, 1:]], 1)
    settings_ = {"relevant": relevant, "ks": (1, 5, 11), "measures": RETRIEVAL_MEASURES}
    expected = retrieval_values(neighbours, labels, **settings_)
    result = retrieval_values(longer, labels, ignored=ignored, **settings_)
    torch.testing.assert_close(result, expected, equal_nan=True)
    assert recall_at(longer, labels, ks=(2,), ignored=ignored) == recall_at(neighbours, labels, ks=(2,))
    torch.testing.assert_close(
        cumulative_match(longer, labels, relevant=relevant, ignored=ignored),
        cumulative_match(neighbours, labels, relevant=relevant),
    )


def test_the_match_characteristic_is_the_recall_of_the_queries_that_can_be_answered():
    neighbours, labels, relevant = whole_rankings(3)
    curve = cumulative_match(neighbours, labels, relevant=relevant)
    answered = relevant > 0
    recall = recall_at(neighbours[answered], labels[answered], ks=range(1, 12))
    assert curve.tolist() == pytest.approx(list(recall.values()))
    assert curve[-1] == 1


def test_where_nothing_can_be_found_only_recall_has_an_answer():
    neighbours, labels, relevant = torch.tensor([[1, 1]]), torch.tensor([0]), torch.tensor([0])
    assert recall_at(neighbours, labels, ks=(2,)) == {2: 0.0}
    for measure in (r_precision, map_at_r, mean_average_precision, cumulative_match):
        with pytest.raises(ValueError, match="expected a query with something to find, got none"):
            measure(neighbours, labels, relevant=relevant)
    with pytest.raises(ValueError, match="expected values of at least one measure"):
        retrieval_means({})


def test_refuses_an_unknown_measure():
    with pytest.raises(ValueError, match=r"expected measures among Recall, .* got recall"):
        retrieval_values(
            torch.tensor([[1]]), torch.tensor([1]), relevant=torch.tensor([1]), ks=(1,), measures=["recall"]
        )


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(retrieval)
    assert outcome.attempted > 0
    assert outcome.failed == 0
