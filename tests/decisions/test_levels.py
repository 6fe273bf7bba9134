"""Levels: the threshold of a wanted share, or of the next higher one; None where none promises so much."""

import pytest

from samekind.decisions import Levels
from samekind.decisions.levels import LEVELS
from samekind.errors import SettingError

FITTED = Levels(tuple(0.3 + level / 2 for level in LEVELS[:46]), "cosine", "made up", 20)


@pytest.mark.parametrize(("level", "of"), [(0.5, 0.5), (0.95, 0.95), (0.945, 0.95), (0.2, 0.5), (0.9, 0.9)])
def test_a_level_has_its_threshold_or_that_of_the_next_higher(level, of):
    assert FITTED.threshold(level) == pytest.approx(0.3 + of / 2)


@pytest.mark.parametrize("level", [0.96, 0.99, 0.9999])
def test_so_few_items_promise_no_more(level):
    assert FITTED.threshold(level) is None


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_is_a_share(level):
    with pytest.raises(SettingError, match=f"between 0 and 1, such as 0.95, got {level:g}"):
        FITTED.threshold(level)
