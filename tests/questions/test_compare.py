"""The same kind or not: the score against the threshold."""

import math

import pytest

from samekind.decisions import Choices
from samekind.errors import SpaceError
from samekind.questions import compare


def test_the_score_decides_and_the_prior_moves_the_probability(plane, at, threshold):
    plane.decisions = {"cosine": threshold(0.5, kind="cosine")}
    near, far, start = at([30, 100, 0]).inputs
    answer, rare = (compare(plane, start, near, kind="cosine", prior=prior) for prior in (0.5, 0.1))
    score = math.cos(math.radians(30))
    assert answer.to_json() == {
        "same": True,
        "score": pytest.approx(score),
        "threshold": 0.5,
        "probability": pytest.approx(1 / (1 + math.exp(1 - 3 * score))),
        "kind": "cosine",
        "point": "eer",
        "false_accepts": 0.0,
        "false_accept_interval": None,
        "false_rejects": 0.0,
    }
    odds = [comparison.probability / (1 - comparison.probability) for comparison in (answer, rare)]
    assert odds[1] == pytest.approx(odds[0] / 9, rel=1e-4)
    assert not compare(plane, start, far, kind="cosine").same


def test_goes_by_the_choice_for_pairs_unless_one_is_named(plane, at, threshold):
    plane.decisions = {kind: threshold(0.5, kind=kind) for kind in ("similarity", "cosine")}
    plane.choices = Choices("cosine", "similarity", "similarity", "some")
    first, second = at([0, 10]).inputs
    assert compare(plane, first, second).kind == "cosine"
    assert compare(plane, first, second, kind="similarity").kind == "similarity"


def test_refuses_a_score_without_a_threshold(plane, at):
    first, second = at([0, 10]).inputs
    with pytest.raises(SpaceError, match='no threshold for the score "fused"'):
        compare(plane, first, second, kind="fused")
