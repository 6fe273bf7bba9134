"""The nearest items of a gallery."""

import pytest

from samekind.questions import search
from samekind.questions.search import gallery_of


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
    assert answer.how == "Everything was compared: the index itself goes by cosine, and is exact."


def test_has_no_probability_without_calibration(plane, at):
    index = gallery_of(plane, at([0, 90]))
    [query] = search(plane, at([10]), index, k=5, exhaustive=True).to_json()["queries"]
    assert [sorted(row) for row in query["found"]] == [["id", "label", "score"]] * 2
