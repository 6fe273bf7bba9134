"""Curves over epsilon as rows."""

import json

import pytest
import torch

from samekind.evaluation.robustness_curve import curve_of
from samekind.evaluation.soundness import Check, Soundness
from samekind.measures.catalogue import GLOBAL_ROBUSTNESS
from samekind.measures.intervals import Interval

VALUES = [Interval(0.9, 0.8, 1.0), Interval(0.5, 0.4, 0.6), Interval(0.1, 0.0, 0.2)]


def curve(*, passed=True, epsilons=(8 / 255, torch.inf)):
    sound = Soundness((Check("transfer", passed, "right: …"),))
    about = ("class", "Voronoi adversarial accuracy", "similarity")
    return curve_of(about, epsilons, VALUES, 0, sound, items="test")


def test_a_row_for_each_epsilon_and_the_last_is_global():
    result = curve()
    assert result.epsilons == (0, 8 / 255, torch.inf)
    assert [row.measure for row in result.rows] == [
        "accuracy", "Voronoi adversarial accuracy at 8/255", GLOBAL_ROBUSTNESS,
    ]  # fmt: skip
    assert all(row.entry.meaning for row in result.rows)
    assert result.shown.text == "50.00% (40.0-60.0)"
    assert [row.note for row in result.rows] == ["", "", ""]


def test_what_is_not_a_measure_says_so_beside_every_number_under_attack():
    assert [row.note for row in curve(passed=False).rows] == [
        "", *["not a measure of robustness (transfer)"] * 2,
    ]  # fmt: skip


def test_it_is_plain_json():
    told = json.loads(json.dumps(curve(passed=False).to_json()))
    assert told["points"][2]["epsilon"] is None
    assert told["checked at"] == pytest.approx(8 / 255)
    assert told["note"] == "not a measure of robustness (transfer)"
