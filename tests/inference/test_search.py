"""The nearest of a gallery against a full sort."""

import importlib
import inspect

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from samekind import similarities
from samekind.errors import SpaceError
from samekind.inference import search
from samekind.prototypes import SupportMeans
from samekind.similarities import Dot, PairsNetwork
from samekind.space import MetricSpace


def a_space(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


def a_similarity(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    takes = inspect.signature(kind).parameters
    needed = {"dimension": 3} if "dimension" in takes else {}
    return kind(**needed)


def whole_numbers(*shape, seed=0):
    """Small whole numbers: their products are exact, and many of them tie."""
    return torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).float()


def by_hand(space, queries, gallery, k, *, kind="similarity", same_items=False):
    """Score every pair alone, sort all of it; Python's sort keeps the order of ties."""
    scores, indices = [], []
    for number, query in enumerate(queries):
        result = [
            (float(space.score(query[None], item[None], kind=kind)), index)
            for index, item in enumerate(gallery)
            if not (same_items and index == number)
        ]
        result.sort(key=lambda pair: -pair[0])
        scores.append([score for score, _ in result[:k]])
        indices.append([index for _, index in result[:k]])
    return torch.tensor(scores), torch.tensor(indices)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    queries=st.integers(1, 7),
    gallery=st.integers(1, 9),
    k=st.integers(1, 9),
    memory_budget=st.sampled_from([0, 1, 4, 12, 40, 10**6]),
)
def test_ties_and_all_agree_with_a_full_sort(seed, queries, gallery, k, memory_budget):
    space = a_space(Dot())
    asked, stored, k = (
        whole_numbers(queries, 3, seed=seed),
        whole_numbers(gallery, 3, seed=seed + 1),
        min(k, gallery),
    )
    result = search(space, asked, stored, k=k, memory_budget=memory_budget)
    scores, indices = by_hand(space, asked, stored, k)
    assert torch.equal(result.scores, scores)
    assert torch.equal(result.indices, indices)


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), size=st.integers(2, 9), memory_budget=st.sampled_from([1, 12, 10**6]))
def test_no_item_finds_itself_where_the_queries_are_the_gallery(seed, size, memory_budget):
    space, z = a_space(Dot()), whole_numbers(size, 3, seed=seed)
    result = search(space, z, z, k=size - 1, same_items=True, memory_budget=memory_budget)
    scores, indices = by_hand(space, z, z, size - 1, same_items=True)
    assert torch.equal(result.scores, scores)
    assert torch.equal(result.indices, indices)
    assert not (result.indices == torch.arange(size)[:, None]).any()


def test_an_item_unlike_all_others_does_not_find_itself_either():
    """With all other scores below 0, leaving one's own at 0 would put oneself first."""
    z = torch.tensor([[1.0, 0, 0], [-1, 0, 0]])
    result = search(a_space(Dot()), z, z, k=1, same_items=True)
    assert result.indices.tolist() == [[1], [0]]
    assert result.scores.tolist() == [[-1], [-1]]


@pytest.mark.parametrize("memory_budget", [1, 100, 10**6])
@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_every_similarity_has_the_query_as_first_argument(name, memory_budget):
    space = a_space(a_similarity(name))
    generator = torch.Generator().manual_seed(0)
    queries, gallery = torch.randn(4, 3, generator=generator), torch.randn(6, 3, generator=generator)
    for kind in space.kinds:
        with torch.no_grad():
            scores, indices = by_hand(space, queries, gallery, 3, kind=kind)
        result = search(space, queries, gallery, k=3, kind=kind, memory_budget=memory_budget)
        torch.testing.assert_close(result.scores, scores)
        assert torch.equal(result.indices, indices)
        assert not result.scores.requires_grad


def test_the_places_matter_to_a_pairs_network():
    """Else the test above could not tell them apart."""
    space = a_space(a_similarity("PairsNetwork"))
    z = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    turned = search(space, z, z, k=6).scores.gather(1, search(space, z, z, k=6).indices.argsort(1))
    assert not torch.allclose(turned, turned.T)


def test_a_space_in_training_is_asked_in_evaluation_mode_and_left_in_training():
    space = a_space(PairsNetwork(dimension=3, hidden=6, dropout=0.9))
    z = whole_numbers(5, 3)
    at_rest = search(space, z, z, k=5)
    space.train()
    torch.testing.assert_close(search(space, z, z, k=5).scores, at_rest.scores)
    assert all(module.training for module in space.modules())


def test_no_queries_find_nothing():
    result = search(a_space(Dot()), torch.empty(0, 3), whole_numbers(4, 3), k=2)
    assert result.scores.shape == result.indices.shape == (0, 2)


@pytest.mark.parametrize(
    ("k", "same_items", "available"), [(6, False, 5), (5, True, 4), (0, False, 5), (-1, True, 4)]
)
def test_refuses_a_k_beyond_the_gallery_or_below_1(k, same_items, available):
    z = whole_numbers(5, 3)
    with pytest.raises(SpaceError, match=f"asked for the {k} nearest, but there are {available} to be found"):
        search(a_space(Dot()), z, z, k=k, same_items=same_items)


def test_nothing_can_be_found_in_an_empty_gallery():
    with pytest.raises(SpaceError, match="there are 0 to be found"):
        search(a_space(Dot()), whole_numbers(1, 3), torch.empty(0, 3), k=1)


@pytest.mark.parametrize("listed", [0, 10**6])
@pytest.mark.parametrize("memory_budget", [1, 12, 60, 10**6])
@pytest.mark.parametrize("seed", range(3))
def test_items_with_the_query_s_mark_are_excluded(monkeypatch, seed, memory_budget, listed):
    """Few of them are listed, of many a mask is made: the same is found."""
    monkeypatch.setattr(importlib.import_module("samekind.inference.search"), "MOST_EXCLUDED_PAIRS", listed)
    space, generator = a_space(Dot()), torch.Generator().manual_seed(seed)
    queries, gallery = whole_numbers(4, 3, seed=seed), whole_numbers(9, 3, seed=seed + 1)
    marks = torch.randint(5, (4,), generator=generator), torch.arange(9) % 4
    result = search(space, queries, gallery, k=6, apart=marks, memory_budget=memory_budget)
    for query in range(4):
        allowed = (marks[1] != marks[0][query]).nonzero().flatten()
        scores, indices = by_hand(space, queries[query : query + 1], gallery[allowed], 6)
        assert torch.equal(result.scores[query], scores[0])
        assert torch.equal(result.indices[query], allowed[indices[0]])


def test_no_more_can_be_found_than_the_marks_leave():
    z, marks = whole_numbers(5, 3), torch.tensor([0, 0, 0, 1, 2])
    with pytest.raises(SpaceError, match="asked for the 3 nearest, but there are 2 to be found"):
        search(a_space(Dot()), z, z, k=3, apart=(marks, marks))
    assert search(a_space(Dot()), z, z, k=5, apart=(marks + 3, marks)).indices.shape == (5, 5)
    with pytest.raises(
        SpaceError, match=r"marks \(5,\) of queries and \(5,\) of a gallery, got \(4,\) and \(5,\)"
    ):
        search(a_space(Dot()), z, z, k=1, apart=(marks[:4], marks))
    with pytest.raises(SpaceError, match="give it or apart, not both"):
        search(a_space(Dot()), z, z, k=1, same_items=True, apart=(marks, marks))


def test_more_queries_than_meet_the_gallery_together(monkeypatch):
    space, z = a_space(Dot()), whole_numbers(23, 3)
    whole = search(space, z, z, k=9, same_items=True)
    monkeypatch.setattr(importlib.import_module("samekind.inference.search"), "STRIP", 4)
    parts = search(space, z, z, k=9, same_items=True)
    assert torch.equal(whole.scores, parts.scores)
    assert torch.equal(whole.indices, parts.indices)


def test_refuses_a_nan_score():
    z = whole_numbers(4, 3)
    z[2, 0] = torch.nan
    with pytest.raises(SpaceError, match="not a number"):
        search(a_space(Dot()), z, z, k=1)
