"""The measured size of a shortlist against the definition, tried size by size; and when there is none."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.errors import SettingError
from samekind.index import Exact, Faiss, Found
from samekind.inference import fit_shortlist, search_index, shortlist_fitting
from samekind.inference.distil import QueryMap
from samekind.inference.shortlist import shortlist_of
from samekind.inference.shortlist_fitting import most_promised, why_everything
from samekind.measures import proportion_interval, student_interval
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Euclidean, PairsNetwork
from samekind.space import MetricSpace

DIMENSION, COUNT = 6, 1200


def drawn(count, seed=0):
    return torch.randn(count, DIMENSION, generator=torch.Generator().manual_seed(seed))


def space_with(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=DIMENSION)).eval()


class Bent(nn.Module):
    """Nearly the cosine, so that a shortlist by it helps, and not quite, so that it must be longer than k."""

    kind, symmetric, scale = "cosine", False, None

    def forward(self, a, b):
        return self.score_all(a, b).diagonal()

    def score_all(self, a, b):
        return Cosine().score_all(a, b) + 0.1 * torch.tanh(3 * b[:, 0])[None]

    def pair_bytes(self, dimension):
        return 8 * dimension


@pytest.fixture
def space():
    return space_with(Bent())


@pytest.fixture(scope="module")
def filled():
    def fill(index, count=COUNT):
        index.add([f"item {place}" for place in range(count)], drawn(count))
        return index

    return fill


@pytest.fixture
def index(filled):
    return filled(Exact(DIMENSION))


def recall_of_size(space, vectors, queries, size, k):
    """By hand: each query's share of its k best by the similarity, among the nearest by the cosine."""
    shares = []
    for own in queries:
        others = [place for place in range(len(vectors)) if place != own]
        true = space.similarity.score_all(vectors[own][None], vectors[others])[0].topk(k).indices.tolist()
        near = Cosine().score_all(vectors[own][None], vectors[others])[0].topk(size).indices.tolist()
        shares.append(len(set(true) & set(near)) / k)
    return torch.tensor(shares)


def test_the_size_is_the_smallest_that_keeps_the_promise(space, index):
    fitted = fit_shortlist(space, index, k=5, recall=0.9, distilled=False)
    drawn_places = torch.randperm(COUNT, generator=torch.Generator().manual_seed(0))[:200].tolist()
    at, before = (
        recall_of_size(space, drawn(COUNT), drawn_places, size, 5) for size in (fitted.size, fitted.size - 1)
    )
    assert fitted.size > 5
    assert fitted.recall == pytest.approx(float(at.mean()))
    expected = student_interval(at)
    assert fitted.interval == pytest.approx((expected.low, expected.high))
    assert fitted.interval[0] >= 0.9 > student_interval(before).low
    assert (fitted.k, fitted.wanted, fitted.sample, fitted.count) == (5, 0.9, 200, COUNT)
    assert (fitted.plain_size, fitted.query_map) == (fitted.size, None)


def test_it_is_noted_in_the_index_and_keeps_its_promise_to_new_queries(space, index):
    fitted = fit_shortlist(space, index, k=5, recall=0.9, distilled=False)
    assert shortlist_of(space, index) == fitted
    queries = drawn(300, seed=5)
    result = search_index(space, index, queries, 5).ids
    true = index.search(queries, 5, scorer=space.similarity).ids
    shares = [len({*one} & {*other}) / 5 for one, other in zip(result, true, strict=True)]
    assert sum(shares) / len(shares) > 0.88
    assert result != true  # a shortlist was used


def test_a_sample_without_a_miss_does_not_prove_that_there_are_none(index):
    fitted = fit_shortlist(space_with(Cosine()), index, k=4, recall=0.9)
    assert (fitted.size, fitted.recall, fitted.query_map) == (4, 1.0, None)
    assert fitted.interval == pytest.approx((proportion_interval(200, 200).low, 1.0))


@pytest.mark.parametrize(
    ("count", "k", "recall", "why"),
    [
        (COUNT, 5, 1.0, "all wanted"),
        (1000, 5, 0.9, "small"),
        (1000, 5, 1.0, "small"),
        (COUNT, 150, 0.9, "small"),  # for so many nearest
        (0, 5, 0.9, "small"),
        (COUNT, 5, 0.999, "too few queries"),  # 1,200 cannot promise it
    ],
)
def test_everything_is_compared_if_no_shortlist_is_short_enough(filled, space, count, k, recall, why):
    index = filled(Exact(DIMENSION), count)
    fitted = fit_shortlist(space, index, k=k, recall=recall)
    assert (fitted.size, fitted.recall, fitted.interval) == (None, 1.0, (1.0, 1.0))
    assert why_everything(fitted) == why
    assert shortlist_of(space, index) == fitted


def test_the_settings_are_noted_with_the_size(space, index):
    chosen = fit_shortlist(space, index, k=5, recall=0.9, distilled=False, seed=3)
    assert (chosen.distilled, chosen.seed, why_everything(chosen)) == (False, 3, None)
    assert shortlist_of(space, index) == chosen
    assert most_promised(200) >= 0.95 > most_promised(50)


class Contrary(Bent):
    """What is far is near: no candidate of the index is any good, and no map of the query helps."""

    def score_all(self, a, b):
        return torch.sin(1e3 * (a.sum(1)[:, None] + b.sum(1)[None]))


def test_a_score_that_has_nothing_to_do_with_the_index_needs_everything(index, monkeypatch):
    monkeypatch.setattr(shortlist_fitting, "POOL", 100)
    fitted = fit_shortlist(space_with(Contrary()), index, k=5, recall=0.9)
    assert (fitted.size, fitted.query_map, why_everything(fitted)) == (None, None, "too long")


def test_a_distilled_query_is_kept_if_its_list_is_shorter(index, monkeypatch):
    monkeypatch.setattr(shortlist_fitting, "POOL", 400)
    torch.manual_seed(0)
    space = space_with(PairsNetwork(dimension=DIMENSION, hidden=16))
    plain = fit_shortlist(space, index, k=5, recall=0.9, distilled=False)
    fitted = fit_shortlist(space, index, k=5, recall=0.9)
    assert fitted.query_map is not None
    assert fitted.plain_size == plain.size
    assert plain.size is None or fitted.size < plain.size
    assert fitted.interval[0] >= 0.9


def test_a_distilled_query_is_dropped_if_its_list_is_longer(space, index, monkeypatch):
    def misleading(scorer, vectors, *, near, score, top, seed):
        built = QueryMap(dimension=DIMENSION, hidden=1, score=score)
        nn.init.constant_(built.last.bias, 100.0)
        return built

    plain = fit_shortlist(space, index, k=5, recall=0.9, distilled=False)
    monkeypatch.setattr(shortlist_fitting, "distil", misleading)
    assert replace(fit_shortlist(space, index, k=5, recall=0.9), distilled=False) == plain


def test_what_is_learned_from_is_not_measured_with(space, index, monkeypatch):
    seen = []

    def watching(scorer, vectors, *, near, score, top, seed):
        seen.append(vectors)
        return QueryMap(dimension=DIMENSION, hidden=1, score=score)

    monkeypatch.setattr(shortlist_fitting, "distil", watching)
    fit_shortlist(space, index, k=2, recall=0.9, seed=3)
    asked = torch.randperm(COUNT, generator=torch.Generator().manual_seed(3))[:200]
    [pool] = seen
    assert len(pool) == COUNT - 200
    assert not (drawn(COUNT)[asked][:, None] == pool[None]).all(-1).any()


def test_a_sparse_sample_gets_each_vector_of_the_index_once(space, index, monkeypatch):
    given = []

    def watching(scorer, vectors, *, near, score, top, seed):
        given.extend(near(vectors, 4) for _ in range(3))
        return QueryMap(dimension=DIMENSION, hidden=1, score=score)

    monkeypatch.setattr(shortlist_fitting, "distil", watching)
    monkeypatch.setattr(shortlist_fitting, "POOL", 100)
    fit_shortlist(space, index, k=2, recall=0.9)
    others = torch.randperm(COUNT, generator=torch.Generator().manual_seed(0))[200:207]
    for place, own in enumerate(others.tolist()):
        result = torch.cat([value[place] for value in given])
        cosines = Cosine().score_all(drawn(COUNT)[own][None], drawn(COUNT))[0]
        nearest = cosines.topk(13).indices.tolist()  # itself and the 12 that were given
        assert nearest[0] == own
        torch.testing.assert_close(result, drawn(COUNT)[nearest[1:]])


class Stingy:
    """An index that finds worse candidates where it is asked for fewer, as approximate ones may."""

    def __init__(self, index, fewer_than):
        self.inside, self.fewer_than = index, fewer_than

    def search(self, queries, k, *, scorer=None):
        result = self.inside.search(queries, k, scorer=scorer)
        if scorer is not None or k >= self.fewer_than:
            return result
        return Found(result.scores, [["nothing"] * (k // 2) + row[: k - k // 2] for row in result.ids])

    def __getattr__(self, name):
        return getattr(self.inside, name)

    def __len__(self):
        return len(self.inside)

    def __iter__(self):
        return iter(self.inside)


def test_what_an_approximate_index_gives_is_measured_with_the_very_size(space, index):
    honest = fit_shortlist(space, index, k=5, recall=0.9, distilled=False).size
    stingy = fit_shortlist(space, Stingy(index, 60), k=5, recall=0.9, distilled=False)
    assert stingy.size > 1.5 * honest
    assert stingy.interval[0] >= 0.9


@pytest.mark.parametrize("structure", ["hnsw", "ivf"])
def test_an_approximate_index_keeps_its_promise(space, filled, structure):
    index = filled(Faiss(DIMENSION, structure=structure))
    fitted = fit_shortlist(space, index, k=5, recall=0.8, distilled=False)
    assert fitted.size is not None
    queries = drawn(200, seed=5)
    result = search_index(space, index, queries, 5).ids
    true = index.search(queries, 5, scorer=space.similarity).ids
    assert sum(len({*one} & {*other}) for one, other in zip(result, true, strict=True)) > 0.78 * 5 * 200


def test_the_seed_draws_the_sample_and_progress_is_reported(space, index):
    told = []
    sizes = [
        fit_shortlist(space, index, k=5, recall=0.9, distilled=False, seed=seed, advance=told.append).interval
        for seed in (0, 0, 1)
    ]
    assert sizes[0] == sizes[1] != sizes[2]
    assert sum(told) == 600


def test_other_kinds_of_score_have_a_shortlist_each(index):
    space = space_with(Euclidean())
    fit_shortlist(space, index, k=5, recall=0.8, distilled=False)
    fit_shortlist(space, index, kind="cosine", k=2, recall=0.8)
    assert shortlist_of(space, index).k == 5
    assert shortlist_of(space, index, "cosine").size == 2


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"recall": 0.0}, "the recall of a shortlist is above 0 and at most 1, got 0.0"),
        ({"recall": 1.1}, "the recall of a shortlist"),
        ({"recall": float("nan")}, "the recall of a shortlist"),
        ({"k": 0}, "the recall of the 0 nearest cannot be measured"),
        (
            {"recall": 0.95, "sample": 71},
            "71 queries cannot promise a recall of 0.95.* a sample of 72 or more",
        ),
        ({"recall": 0.01, "sample": 1}, "1 queries cannot promise .* a sample of 2 or more"),
    ],
)
def test_refuses_a_recall_or_sample_that_cannot_be_measured(space, index, asked, says):
    with pytest.raises(SettingError, match=says):
        fit_shortlist(space, index, **asked)
    assert index.notes == {}


def test_a_sample_of_just_so_many_can_promise_it(space, index):
    fitted = fit_shortlist(space, index, k=5, recall=0.9, sample=40, distilled=False)
    assert fitted.sample == 40
    assert fitted.interval[0] >= 0.9
