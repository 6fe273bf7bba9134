"""The ladder keeps one of its own rungs."""

import pytest

from samekind.decisions import Ladder, Rung
from samekind.errors import SettingError

RUNG = Rung("untrained features", 0.5, 0.25, "cosine", "cosine", 1.5)


def test_a_rung_by_its_name():
    assert Ladder((RUNG,), RUNG.name, "2 folds of 3 classes").rung("untrained features") is RUNG


def test_stayed_where_the_first_rung_is_kept():
    rungs = (RUNG, Rung("encoder trained", 0.6, 0.2, "cosine", "cosine", 9.0))
    assert [Ladder(rungs, rung.name, "2 folds").stayed for rung in rungs] == [True, False]


def test_refuses_a_kept_rung_that_was_not_tried():
    with pytest.raises(SettingError, match='the kept rung "trained encoder" is not one of untrained'):
        Ladder((RUNG,), "trained encoder", "2 folds of 3 classes")
