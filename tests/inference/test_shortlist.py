"""Two-stage search against the same two stages by hand, and against comparing everything."""

import dataclasses

import pytest
import torch
from torch import nn

from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, Faiss
from samekind.index.mapped import similarity_fingerprint
from samekind.inference import search_index
from samekind.inference.distil import QueryMap
from samekind.inference.shortlist import (
    Shortlist,
    keep_shortlist,
    shortlist_of,
    shortlists_in,
)
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace

DIMENSION = 4


def drawn(count, seed=0):
    return torch.randn(count, DIMENSION, generator=torch.Generator().manual_seed(seed))


def space_with(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=DIMENSION)).eval()


@pytest.fixture
def space():
    torch.manual_seed(0)
    return space_with(PairsNetwork(dimension=DIMENSION, hidden=8))


@pytest.fixture
def index():
    built = Exact(DIMENSION)
    built.add([f"item {place}" for place in range(60)], drawn(60))
    return built


def measured(space, *, kind="similarity", size=12, k=3, count=60, query_map=None):
    return Shortlist(
        kind=kind,
        size=size,
        k=k,
        recall=0.97,
        interval=(0.96, 0.98),
        wanted=0.95,
        sample=200,
        count=count,
        similarity=similarity_fingerprint(space, kind),
        query_map=query_map,
    )


def by_hand(space, query, point, vectors, names, *, size, k, kind="similarity"):
    """The vectors nearest to a point by the cosine, then the best of those by each pair's own score."""
    cosines = [float(Cosine()(point[None], vector[None])) for vector in vectors]
    listed = sorted(range(len(vectors)), key=lambda place: -cosines[place])[:size]
    with torch.no_grad():
        scores = {
            names[place]: float(space.score(query[None], vectors[place][None], kind=kind)) for place in listed
        }
    best = sorted(scores, key=lambda name: -scores[name])[:k]
    return best, [scores[name] for name in best]


@pytest.mark.parametrize("kind", ["similarity", "fused", "cosine"])
@pytest.mark.parametrize("mapped", [False, True])
def test_the_similarity_chooses_among_what_the_index_proposes(space, index, kind, mapped):
    moved = QueryMap(dimension=DIMENSION, hidden=2)
    nn.init.constant_(moved.last.bias, 0.7)
    keep_shortlist(index, measured(space, kind=kind, query_map=moved if mapped else None))
    queries, names = drawn(5, seed=1), list(index)
    result = search_index(space, index, queries, 3, kind=kind)
    assert result.scores.shape == (5, 3)
    with torch.no_grad():
        points = moved(queries) if mapped else queries
    for place, query in enumerate(queries):
        best, scores = by_hand(space, query, points[place], drawn(60), names, size=12, k=3, kind=kind)
        assert result.ids[place] == best
        assert result.scores[place].tolist() == pytest.approx(scores, abs=1e-5)


def test_without_a_shortlist_everything_is_compared(space, index):
    result = search_index(space, index, drawn(5, seed=1), 4)
    for place, query in enumerate(drawn(5, seed=1)):
        best, _ = by_hand(space, query, query, drawn(60), list(index), size=60, k=4)
        assert result.ids[place] == best


def test_the_score_of_the_index_is_its_own_answer(space):
    index = Counting(Exact(DIMENSION))
    index.add([str(place) for place in range(60)], drawn(60))
    result = search_index(space, index, drawn(3, seed=1), 4, kind="cosine")
    assert result.ids == index.search(drawn(3, seed=1), 4).ids
    search_index(space_with(Cosine()), index, drawn(3, seed=1), 4)
    assert index.exhaustive == 0
    search_index(space, index, drawn(3, seed=1), 4)
    assert index.exhaustive == 1


class Counting:
    """An index that counts the searches in which everything was compared."""

    def __init__(self, index):
        self.inside, self.exhaustive = index, 0

    def search(self, queries, k, *, scorer=None):
        self.exhaustive += scorer is not None
        return self.inside.search(queries, k, scorer=scorer)

    def __getattr__(self, name):
        return getattr(self.inside, name)

    def __len__(self):
        return len(self.inside)


@pytest.mark.parametrize(
    ("k", "count", "size"),
    [
        (3, 60, 12),
        (1, 60, 12),  # fewer than measured: as measured
        (3, 30, 12),  # so in an index that has shrunk
        (6, 60, 24),  # twice as many
        (3, 120, 24),  # twice as large
        (4, 90, 24),  # ceil(12 * 4/3 * 3/2)
        (9, 60, None),  # 36 of 60
        (3, 20, None),  # 12 of 20
        (61, 60, None),
        (1, 0, None),
    ],
)
def test_the_size_grows_with_the_question_and_the_index(space, k, count, size):
    assert measured(space).size_for(k, count) == size


def test_a_shortlist_without_a_size_compares_everything(space, index):
    whole = search_index(space, index, drawn(4, seed=1), 3)
    keep_shortlist(index, measured(space, size=None))
    assert measured(space, size=None).size_for(1, 10**6) is None
    assert search_index(space, index, drawn(4, seed=1), 3).ids == whole.ids


def test_a_k_beyond_the_size_gives_all(space, index):
    keep_shortlist(index, measured(space))
    assert search_index(space, index, drawn(2), 100).scores.shape == (2, 60)
    assert search_index(space, index, drawn(0), 3).ids == []
    with pytest.raises(SettingError, match="asked for the 0 nearest"):
        search_index(space, index, drawn(2), 0)


def test_a_shortlist_belongs_to_one_similarity(space, index):
    keep_shortlist(index, measured(space))
    assert shortlist_of(space, index) == measured(space)
    assert shortlist_of(space, index, "fused") is None
    other = space_with(PairsNetwork(dimension=DIMENSION, hidden=8))
    assert shortlist_of(other, index) is None
    assert shortlist_of(space_with(Cosine()), index) is None
    keep_shortlist(index, measured(space, kind="fused", size=5))
    assert shortlist_of(space, index, "fused").size == 5
    assert shortlist_of(space, index).size == 12
    space.enroll("new", drawn(3))
    assert shortlist_of(space, index).size == 12  # classes play no part


def test_a_shortlist_is_saved_with_the_index(space, index, tmp_path):
    moved = QueryMap(dimension=DIMENSION, hidden=2)
    nn.init.constant_(moved.last.bias, 0.7)
    keep_shortlist(index, measured(space, query_map=moved))
    before = search_index(space, index, drawn(4, seed=1), 3)
    index.save(tmp_path / "index")
    again = Exact.open(tmp_path / "index")
    chosen = shortlist_of(space, again)
    assert dataclasses.replace(chosen, query_map=None) == measured(space)
    assert search_index(space, again, drawn(4, seed=1), 3).ids == before.ids


@pytest.mark.parametrize(
    "change",
    [
        {"size": 0},
        {"size": "many"},
        {"k": 1.5},
        {"interval": 3},
        {"interval": ["a", 1]},
        {"recall": "high"},
        {"plain_size": []},
        {"seed": None},
        {"kind": {}},
        {"more": 1},
        {"query_map": {}},
    ],
)
def test_a_damaged_note_is_named(space, index, change):
    index.notes["shortlist"] = {"similarity": measured(space).to_note() | change}
    with pytest.raises(SpaceError, match="the index is damaged: its "):
        search_index(space, index, drawn(2), 3)


@pytest.mark.parametrize("note", [None, [1], "mine"])
def test_a_note_of_another_program_is_not_a_shortlist(space, index, note):
    index.notes["shortlist"] = note
    assert shortlist_of(space, index) is None
    assert shortlists_in(index) == []
    keep_shortlist(index, measured(space))
    keep_shortlist(index, measured(space, kind="fused"))
    assert [value.kind for value in shortlists_in(index)] == ["similarity", "fused"]


@pytest.mark.parametrize("name", ["kind", "size", "query_map", "similarity"])
def test_a_note_that_lacks_something_is_named(space, index, name):
    note = measured(space).to_note()
    del note[name]
    index.notes["shortlist"] = {"similarity": note}
    with pytest.raises(SpaceError, match="its shortlist cannot be read"):
        shortlist_of(space, index)


class Forgetful(Counting):
    """A shared index from which somebody takes a candidate between two calls, so many times."""

    def __init__(self, index, times):
        self.inside, self.exhaustive, self.times = index, 0, times

    def vectors(self, ids=None):
        self.times -= 1
        if self.times >= 0:
            raise SettingError(f'there is no id "{ids[0]}"')
        return self.inside.vectors(ids)


@pytest.mark.parametrize(("times", "exhaustive"), [(0, 0), (2, 0), (3, 1)])
def test_a_candidate_may_be_removed_during_a_search(space, index, times, exhaustive):
    keep_shortlist(index, measured(space))
    expected = search_index(space, index, drawn(4, seed=1), 3)
    shared = Forgetful(index, times)
    result = search_index(space, shared, drawn(4, seed=1), 3)
    assert shared.exhaustive == exhaustive
    if not exhaustive:
        assert result.ids == expected.ids


def test_refuses_a_nan_score(space, index):
    keep_shortlist(index, measured(space))
    with torch.no_grad():
        space.similarity.last.bias.fill_(torch.nan)
    index.notes["shortlist"]["similarity"]["similarity"] = similarity_fingerprint(space, "similarity")
    with pytest.raises(SpaceError, match="a score is NaN"):
        search_index(space, index, drawn(2), 3)


def test_a_space_in_training_is_asked_in_evaluation_mode_and_left_in_training(space, index):
    keep_shortlist(index, measured(space))
    expected = search_index(space, index, drawn(4, seed=1), 3)
    space.train()
    assert search_index(space, index, drawn(4, seed=1), 3).ids == expected.ids
    assert space.similarity.training


def test_any_index_will_do(space, index):
    other = Faiss(DIMENSION, structure="flat")
    other.add(list(index), index.vectors())
    for value in (index, other):
        keep_shortlist(value, measured(space))
    queries = drawn(6, seed=1)
    assert search_index(space, other, queries, 3).ids == search_index(space, index, queries, 3).ids
