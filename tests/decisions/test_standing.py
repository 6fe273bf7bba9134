"""What a kind of score was measured to do: better only where chance is left out, and back from JSON."""

import json
from dataclasses import asdict, replace

import pytest

from samekind.decisions.standing import Standing, stored_standing
from samekind.errors import SettingError

OWN = Standing(0.25, 0.5, "voices, validation")
OTHER = Standing(0.05, 0.75, "voices, validation", (0.1, 0.3), (0.05, 0.45))


@pytest.mark.parametrize(
    ("gain", "better"), [((0.01, 0.2), True), ((0.0, 0.2), False), ((-0.1, 0.2), False), (None, False)]
)
def test_it_is_better_where_the_whole_interval_is(gain, better):
    assert replace(OTHER, error_gain=gain).errs_less == better
    assert replace(OTHER, recall_gain=gain).finds_more == better


@pytest.mark.parametrize("standing", [OWN, OTHER])
def test_there_and_back(standing):
    assert stored_standing("cosine", json.loads(json.dumps(asdict(standing)))) == standing


@pytest.mark.parametrize(
    "change",
    [
        {"equal_error": "low"},
        {"equal_error": None},
        {"recall": True},
        {"recall": float("nan")},
        {"measured_on": 3},
        {"error_gain": [0.1]},
        {"recall_gain": [0.1, "high"]},
    ],
)
def test_what_is_none_is_refused(change):
    with pytest.raises(SettingError, match='the standing of the score "cosine" is none'):
        stored_standing("cosine", {**asdict(OTHER), **change})


def test_a_score_there_is_not_has_none():
    with pytest.raises(SettingError, match='the standing of the score "auxiliary" is none'):
        stored_standing("auxiliary", asdict(OTHER))
