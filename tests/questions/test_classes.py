"""Related classes: the most alike, and the tree."""

import pytest

from samekind.questions import classes


def test_names_the_most_alike_and_joins_all(plane):
    answer = classes(plane, k=1)
    assert answer.alike["right"][0].name == "up"
    assert answer.alike["left"][0].score == pytest.approx(0, abs=1e-6)
    content = answer.to_json()
    assert content["kind"] == "similarity"
    assert content["alike"]["right"] == [{"class": "up", "score": pytest.approx(0, abs=1e-6)}]
    assert sorted([*content["tree"][-1]["first"], *content["tree"][-1]["second"]]) == ["left", "right", "up"]


def test_asks_for_no_more_classes_than_there_are(plane):
    assert [len(others) for others in classes(plane, k=9).alike.values()] == [2, 2, 2]
