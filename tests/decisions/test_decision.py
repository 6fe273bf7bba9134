"""Decisions from JSON and back; what they do is tested with the space that holds them."""

import json
from dataclasses import asdict

import pytest

from samekind.decisions.decision import Decision, stored_decision
from samekind.errors import SettingError

DECISION = Decision(
    "cosine", 0.5, "eer", "four trials", 0.1, 0.2, (2.0, -1.0), (0.0, 0.3), None, 2, 2, 2, 0.15
)


def test_there_and_back():
    assert stored_decision("cosine", json.loads(json.dumps(asdict(DECISION)))) == DECISION


@pytest.mark.parametrize(
    "changes", [{"threshold": "a"}, {"calibration": [1.0]}, {"classes": 2.5}, {"point": None}]
)
def test_what_is_no_decision_is_refused(changes):
    with pytest.raises(SettingError, match='the decision for "cosine" is not one'):
        stored_decision("cosine", asdict(DECISION) | changes)


def test_one_of_another_kind_is_refused():
    with pytest.raises(SettingError, match='the decision for "fused" is not one'):
        stored_decision("fused", asdict(DECISION))
