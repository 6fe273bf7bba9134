"""A distilled similarity: a map of the query with which an index finds the similarity's nearest."""

import importlib

import pytest
import torch
import torch.nn.functional as F

from samekind.errors import SettingError, SpaceError
from samekind.inference import distil
from samekind.inference.distil import QueryMap
from samekind.similarities import Cosine, Dot, Euclidean, PairsNetwork

SCORES = {"cosine": Cosine(), "dot": Dot(), "euclidean": Euclidean()}


class Turned:
    """A score of a query turned by half the axes: its nearest lie elsewhere than around the query."""

    quantity, symmetric = "inner product", False

    def __init__(self, own, factor=1.0):
        self.own, self.factor = own, factor

    def score_all(self, a, b):
        return self.factor * self.own.score_all(a.roll(a.shape[1] // 2, dims=1), b)

    def pair_bytes(self, dimension):
        return 8 * dimension


def drawn(count, dimension=8, seed=0):
    return torch.randn(count, dimension, generator=torch.Generator().manual_seed(seed))


def share_listed(scorer, points, queries, stored, own, *, k=5, candidates=20):
    """By hand: the share of the true k best that is among the candidates nearest to the points."""
    shares = []
    for point, query in zip(points, queries, strict=True):
        true = scorer.score_all(query[None], stored)[0].topk(k).indices.tolist()
        listed = own.score_all(point[None], stored)[0].topk(candidates).indices.tolist()
        shares.append(len(set(true) & set(listed)) / k)
    return sum(shares) / len(shares)


@pytest.mark.parametrize("score", SCORES)
def test_a_distilled_query_finds_what_the_similarity_wants(score):
    own, queries, stored = SCORES[score], drawn(60, seed=1), drawn(800, seed=2)
    scorer = Turned(own)
    built = distil(scorer, drawn(600), score=score, top=5, steps=150)
    assert share_listed(scorer, queries, queries, stored, own) < 0.3
    assert share_listed(scorer, built(queries), queries, stored, own) > 0.8


@pytest.mark.parametrize("shown", [0, 1])
def test_a_feature_that_hardly_varies_in_the_sample_does_not_dominate(shown):
    """Behind a ReLU some units are silent in any sample; a query that has one is else like the others."""
    own, sample = Cosine(), drawn(600).relu()
    scorer, stored, queries = Turned(own), drawn(800, seed=2).relu(), drawn(60, seed=1).relu()
    for value in (sample, stored, queries):
        value[:, -1] = 0
    sample[:shown, -1] = 0.3
    built = distil(scorer, sample, top=5, steps=150)
    as_shown = share_listed(scorer, built(queries), queries, stored, own)
    queries[:, -1] = 0.1
    assert share_listed(scorer, built(queries), queries, stored, own) > as_shown - 0.1


def test_a_sample_without_any_spread_is_only_shifted():
    built = distil(Cosine(), torch.ones(20, 3), top=5, steps=1)
    assert built.deviation.tolist() == [1, 1, 1]
    assert built(torch.full((1, 3), 2.0)).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_a_stored_zero_vector_gives_no_nan(dtype):
    """Before, in float16 it was not."""
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=dtype)
    torch.testing.assert_close(
        QueryMap(dimension=2).stored(z), torch.tensor([[0.0, 0.0], [0.6, 0.8]], dtype=dtype)
    )
    assert QueryMap(dimension=2, score="dot").stored(z) is z


def test_a_pairs_network_can_be_distilled():
    torch.manual_seed(0)
    scorer = PairsNetwork(dimension=8, hidden=32, depth=2).eval()
    queries, stored = drawn(60, seed=1), drawn(800, seed=2)
    built = distil(scorer, drawn(800), top=5, steps=150)
    with torch.no_grad():
        plain = share_listed(scorer, queries, queries, stored, Cosine())
        assert share_listed(scorer, built(queries), queries, stored, Cosine()) > plain + 0.3


def test_what_the_index_finds_meanwhile_is_learned_from_too():
    """A sample too thin to hold what matters, and the few that the index finds."""
    scorer, stored, sample = Turned(Cosine()), drawn(3000, seed=2), drawn(300)
    counts = []

    def near(points, count):
        counts.append(count)
        places = Cosine().score_all(points, stored).topk(count * len(counts)).indices[:, -count:]
        return stored[places]

    queries = drawn(60, seed=1)
    thin = distil(scorer, sample, top=5, steps=150)
    built = distil(scorer, sample, near=near, top=5, steps=150)
    assert counts == [32, 32, 32]
    plain, better = (
        share_listed(scorer, value(queries), queries, stored, Cosine()) for value in (thin, built)
    )
    assert better > plain + 0.02


def test_wide_vectors_are_looked_for_in_smaller_numbers(monkeypatch):
    counts = []

    def near(points, count):
        counts.append(count)
        return torch.randn(len(points), count, 8, generator=torch.Generator().manual_seed(len(counts)))

    module = importlib.import_module("samekind.inference.distil")  # the room has a function of that name
    monkeypatch.setattr(module, "MOST_NUMBERS", 60 * 3 * 8 * 5 + 1)
    distil(Dot(), drawn(60), near=near, top=3, steps=3)
    assert counts == [5, 5, 5]  # so many numbers among 60 queries, three times
    monkeypatch.setattr(module, "MOST_NUMBERS", 60 * 3 * 8 - 1)
    distil(Dot(), drawn(60), near=near, top=3, steps=3)
    assert len(counts) == 3  # there is no room for any


def test_only_a_part_is_compared_with_all():
    asked = []

    class Watched(Turned):
        def score_all(self, a, b):
            asked.append(len(a) * len(b))
            return super().score_all(a, b)

    distil(Watched(Cosine()), drawn(300), shared=50, steps=1)
    assert sum(asked) == 300 * 50


def test_only_the_order_of_the_scores_matters():
    one = distil(Turned(Cosine()), drawn(200), steps=10)
    other = distil(Turned(Cosine(), factor=1e-3), drawn(200), steps=10)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_a_fresh_map_moves_nothing():
    z = drawn(5)
    assert torch.equal(QueryMap(dimension=8, score="dot")(z), z)
    assert torch.equal(QueryMap(dimension=8, score="euclidean")(z), z)
    assert torch.equal(QueryMap(dimension=8)(z), F.normalize(z, dim=1))


def test_the_seed_decides_and_the_global_generator_stays():
    with torch.no_grad():  # as it is called: inside a search
        state = torch.get_rng_state()
        built = [distil(Turned(Cosine()), drawn(200), steps=5, seed=seed) for seed in (3, 3, 4)]
        assert torch.equal(torch.get_rng_state(), state)
    z = drawn(7, seed=9)
    assert torch.equal(built[0](z), built[1](z))
    assert not torch.equal(built[0](z), built[2](z))
    assert not any(parameter.requires_grad for parameter in built[0].parameters())
    assert not built[0].training


@pytest.mark.parametrize("score", SCORES)
def test_a_note_gives_the_same_map_back(score):
    built = distil(Turned(Cosine()), drawn(100), score=score, steps=5, hidden=16)
    again = QueryMap.from_note(built.to_note())
    assert torch.equal(again(drawn(9, seed=4)), built(drawn(9, seed=4)))
    assert (again.hidden, again.score, again.training) == (16, score, False)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": "no base64!"},
        {"weights": "AAAA"},
        {"weights": None},
        {"dimension": 9},
        {"hidden": "wide"},
        {"hidden": 10**10},
        {"score": []},
    ],
)
def test_a_damaged_note_is_named(change):
    note = QueryMap(dimension=8, hidden=4).to_note()
    with pytest.raises(SpaceError, match="its map of queries cannot be read"):
        QueryMap.from_note(note | change)
    with pytest.raises(SpaceError, match="its map of queries cannot be read"):
        QueryMap.from_note({name: value for name, value in note.items() if name != next(iter(change))})


def test_a_wide_space_gets_a_narrow_map():
    built = distil(Dot(), drawn(20, dimension=4096), top=3, steps=1)
    assert built.hidden == 32
    assert len(str(built.to_note())) < 2**20


@pytest.mark.parametrize("vectors", [torch.zeros(11, 3), torch.zeros(30)])
def test_refuses_too_little_to_learn_from(vectors):
    with pytest.raises(SettingError, match="expected more than 11 vectors"):
        distil(Cosine(), vectors)
