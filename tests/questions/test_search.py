"""The nearest items of a gallery."""

from dataclasses import replace

import numpy
import pytest
import torch

from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, Faiss, open_index
from samekind.inference.shortlist import keep_shortlist, shortlist_of
from samekind.questions import build_index, search
from samekind.questions.galleries import new_index
from samekind.questions.opening import OpenSpace
from samekind.questions.search import gallery_of, over_gallery, search_files
from samekind.questions.shortlists import Advice
from samekind.similarities import Euclidean, FixedScale


def test_finds_the_nearest_but_not_the_query_itself(plane, at, threshold):
    plane.decisions = {"similarity": threshold(0.5)}
    index = gallery_of(plane, at([0, 10, 50, 90], ["a", "a", None, "b"]))
    answer = search(plane, at([10, 80]), index, k=2)
    ids = [[match.id for match in query.matches] for query in answer.queries]
    assert ids == [["0 degrees", "50 degrees"], ["90 degrees", "50 degrees"]]
    first = answer.to_json()["queries"][0]["found"][0]
    assert (first["label"], first["score"]) == ("a", pytest.approx(0.985, abs=1e-3))
    assert 0 < first["probability"] < 1
    assert (answer.gallery, answer.shortlist) == (4, None)
    assert answer.how == ("Everything was compared: the index itself goes by cosine, and is exact", None)


def test_asks_for_the_labels_of_all_matches_at_once(plane, at, monkeypatch):
    """For a server each call is a request."""
    index, calls = gallery_of(plane, at(range(20), [str(number) for number in range(20)])), []
    metadata = Exact.metadata
    monkeypatch.setattr(Exact, "metadata", lambda self, ids: calls.append(ids) or metadata(self, ids))
    answer = search(plane, at([3, 4, 5]), index, k=19)
    [ids] = calls
    assert len(set(ids)) == len(ids) == 20
    assert all(match.id.startswith(match.label) for query in answer.queries for match in query.matches)


def test_searches_files_and_names_the_skipped_ones_of_both_sides(plane, tmp_path):
    for name, point in {"queries/a": (1, 0), "gallery/b": (1, 0), "gallery/c": (0, 1)}.items():
        path = tmp_path / f"{name}.npy"
        path.parent.mkdir(exist_ok=True)
        numpy.save(path, numpy.array(point, dtype=numpy.float32))
    for side in ("queries", "gallery"):
        (tmp_path / side / "bad.npy").write_text("no array")
    opened, queries = OpenSpace(plane, tmp_path), [str(tmp_path / "queries")]
    answer = search_files(
        opened,
        queries,
        gallery=[str(tmp_path / "gallery")],
        save_to=tmp_path / "index",
        k=1,
        skip_unreadable=True,
    )
    assert [path for path, _ in answer.skipped] == [
        str(tmp_path / side / "bad.npy") for side in ("queries", "gallery")
    ]
    again = search_files(opened, queries, index=tmp_path / "index", k=1, skip_unreadable=True)
    assert again.queries == answer.queries
    assert answer.queries[0].matches[0].id == str(tmp_path / "gallery" / "b.npy")


@pytest.fixture
def built(plane, at, tmp_path):
    """A space with distances, another score than that of an index, and the index of a gallery."""
    plane.similarity = Euclidean(scale=FixedScale(1.0))
    index, items = new_index(plane, count=36), at(range(36))
    build_index(plane, index, items, tmp_path / "index")
    return plane, open_index(tmp_path / "index")


@pytest.mark.parametrize(
    ("changes", "says", "advice"),
    [
        ({}, "with up to 1,000 vectors that is quick, and needs no shortlist", None),
        (
            {"count": 5_000, "wanted": 1.0},
            "a recall of 1 was asked for",
            Advice("lower recall", recall=0.95),
        ),
        (
            {"count": 5_000, "sample": 200},
            "no shortlist of up to 1,250 finds 95.0% of the 10 best",
            Advice("rebuild"),
        ),
        ({"size": 30}, "a shortlist for the 5 nearest would be more than half of the index", None),
        (
            {"similarity": "another"},
            "no shortlist was measured for similarity with this space, and with so few vectors none is "
            "needed",
            None,
        ),
    ],
)
def test_says_why_everything_was_compared(built, at, changes, says, advice):
    space, index = built
    keep_shortlist(index, replace(shortlist_of(space, index), **changes))
    assert search(space, at([50]), index).how == (f"Everything was compared: {says}", advice)


def test_says_what_measures_a_large_index(built, at, monkeypatch):
    monkeypatch.setattr("samekind.inference.shortlist_fitting.SMALL", 10)
    space, index = built
    index.notes.clear()
    assert search(space, at([50]), index, k=2).how == (
        "Everything was compared: no shortlist was measured for similarity with this space",
        Advice("measure", kind="similarity"),
    )


def test_says_that_an_index_found_by_its_own_score(built, at):
    space, index = built
    faiss = Faiss(2, structure="hnsw", fingerprint=index.fingerprint)
    faiss.add(list(index), index.vectors())
    assert search(space, at([50]), faiss, kind="cosine").how == (
        "Found by the index itself, which goes by cosine",
        Advice("measure recall", kind="cosine"),
    )


def test_an_empty_index_gives_nothing(plane, at):
    index = gallery_of(plane, at([0]))
    index.remove(list(index))
    for exhaustive in (False, True):
        answer = search(plane, at([10]), index, exhaustive=exhaustive)
        assert (answer.gallery, answer.shortlist, answer.queries[0].matches) == (0, None, ())


def test_has_no_probability_without_calibration(plane, at):
    index = gallery_of(plane, at([0, 90]))
    [query] = search(plane, at([10]), index, k=5, exhaustive=True).to_json()["queries"]
    assert [sorted(row) for row in query["found"]] == [["id", "label", "score"]] * 2


def test_the_gallery_itself_may_be_the_cohort(plane, at):
    """Scores are those of the space with that cohort; the given space stays as it is."""
    index = gallery_of(plane, at([0, 10, 30, 60, 90, 150, 200]))
    space = over_gallery(plane, index)
    assert plane.normalised is None
    assert torch.equal(space.normalised.cohort, index.vectors())
    answer = search(space, at([20]), index, k=3, kind="normalised")
    queries = at([20]).inputs
    expected = space.score_all(queries, index.vectors(), kind="normalised")[0].topk(3)
    assert [match.score for match in answer.queries[0].matches] == pytest.approx(expected.values.tolist())
    with pytest.raises(SpaceError, match="cannot be a cohort: it is empty"):
        over_gallery(plane, gallery_of(plane, at([])))


def test_a_large_gallery_is_drawn_from(plane, at, monkeypatch):
    monkeypatch.setitem(over_gallery.__globals__, "COHORT", 4)
    assert over_gallery(plane, gallery_of(plane, at(range(9)))).normalised.size == 4


def test_a_cohort_goes_with_normalised_scores(plane, at, tmp_path):
    for angle in (0, 10, 90):
        numpy.save(tmp_path / f"{angle}.npy", at([angle]).inputs[0].numpy())
    opened = OpenSpace(plane, tmp_path / "space")
    answer = search_files(opened, [str(tmp_path / "0.npy")], gallery=[str(tmp_path)], own_cohort=True, k=1)
    assert answer.kind == "normalised"
    assert answer.queries[0].matches[0].id.endswith("10.npy")
    with pytest.raises(SettingError, match='leave out the kind "cosine" or the cohort'):
        search_files(opened, ["a.npy"], gallery=["b.npy"], kind="cosine", own_cohort=True)
