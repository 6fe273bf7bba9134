"""Thresholds and temperatures, fitted and kept in the space."""

import numpy
import pytest

from samekind.data import read_trial_list
from samekind.errors import DataError
from samekind.inference import all_trials, fit_decision, fit_open_set
from samekind.inference.known_classes import divided
from samekind.questions import calibrate, calibrate_on_trials, calibrate_open_set

DEGREES, LABELS = [0, 10, 20, 80, 90, 100, 250, 270], ["right"] * 3 + ["up"] * 3 + ["down"] * 2


def test_fits_every_kind_and_says_what_temperatures_need(plane, items_at):
    items = items_at(DEGREES, LABELS)
    answer = calibrate(plane, items, point="frr=0.1")
    expected = fit_decision(
        all_trials(plane, items.inputs, items.labels, kind="similarity"),
        kind="similarity",
        point="frr=0.1",
        description="points",
    )
    assert answer.decisions == plane.decisions == {"similarity": expected}
    assert answer.note.startswith("careful (class probabilities): 6 of the items are of classes")
    content = answer.to_json()
    assert content["decisions"]["similarity"]["warning"] == answer.warning("similarity") is not None
    assert content["temperatures"] == {}


def test_one_kind_leaves_temperatures_alone_and_many_items_are_drawn(plane, items_at):
    answer = calibrate(plane, items_at(DEGREES, LABELS), kind="similarity", limit=6)
    assert list(answer.decisions) == ["similarity"]
    assert "6 items drawn from points" in answer.decisions["similarity"].trials
    assert answer.note is None


def test_fits_none_of_these_on_known_and_other_classes(plane, items_at):
    items = items_at(DEGREES, LABELS)
    answer = calibrate_open_set(plane, items)
    assert plane.open_set == answer.decisions["open set"] == fit_open_set(plane, *divided(plane, items))
    with pytest.raises(DataError, match="points has only classes that this space knows"):
        calibrate_open_set(plane, items_at([0, 90], ["right", "up"]))


def test_fits_on_the_trials_of_a_list(plane, tmp_path):
    for angle in (0, 10, 80, 90):
        radians = numpy.deg2rad(angle)
        point = numpy.array([numpy.cos(radians), numpy.sin(radians)], dtype=numpy.float32)
        numpy.save(tmp_path / f"{angle}.npy", point)
    pairs = ("1 0.npy 10.npy", "0 0.npy 80.npy", "1 80.npy 90.npy", "0 10.npy 90.npy")
    (tmp_path / "list.txt").write_text("\n".join(pairs))
    answer = calibrate_on_trials(plane, read_trial_list(tmp_path / "list.txt"), title="list.txt")
    assert plane.decisions == answer.decisions
    assert answer.decisions["similarity"].trials.startswith("list.txt")
    assert 0.18 < answer.decisions["similarity"].threshold < 0.99


def test_refuses_items_that_make_no_pairs(plane, items_at):
    with pytest.raises(DataError, match="expected two classes at least"):
        calibrate(plane, items_at([0, 10], ["right", "right"]))
