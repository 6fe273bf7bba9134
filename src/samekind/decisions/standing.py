"""How a kind of score did on held-out items, beside the space's own similarity."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from samekind.decisions.decision import Kind
from samekind.errors import SettingError

GAINS = ("error_gain", "recall_gain")


@dataclass(frozen=True)
class Standing:
    """What a kind of score was measured to do, and by how much that is better than the space's own.

    ``equal_error`` is that of all pairs of the items, ``recall`` the share of items whose most alike other
    item is of their class. The gains are the ends (low, high) at 95 %, both scores asked about the same
    items: by how much the error is lower, the recall higher. None of the own similarity, and where there were
    too few to tell. ``measured_on`` names the items.
    """

    equal_error: float
    recall: float
    measured_on: str
    error_gain: tuple[float, float] | None = None
    recall_gain: tuple[float, float] | None = None

    @property
    def errs_less(self) -> bool:
        """Whether it tells pairs apart better than the own similarity by more than chance."""
        return self.error_gain is not None and self.error_gain[0] > 0

    @property
    def finds_more(self) -> bool:
        """Whether it finds the same class first more often than the own similarity by more than chance."""
        return self.recall_gain is not None and self.recall_gain[0] > 0


def stored_standing(kind: str, stored: Mapping[str, Any]) -> Standing:
    """A standing as JSON has it."""
    gains = {name: stored.get(name) for name in GAINS}
    found = Standing(**{**stored, **{name: each and tuple(each) for name, each in gains.items()}})
    ends = [each for each in gains.values() if each is not None]
    numbers = [found.equal_error, found.recall, *(end for each in ends for end in each)]
    fits = kind in get_args(Kind) and isinstance(found.measured_on, str)
    fits = fits and all(len(each) == 2 for each in ends)
    if not fits or not all(type(each) in (int, float) and math.isfinite(each) for each in numbers):
        raise SettingError(f'the standing of the score "{kind}" is none')
    return found
