"""From which probability on a node of the tree is an answer, so that a wanted share of answers is right."""

from bisect import bisect_left
from dataclasses import dataclass

from samekind.decisions.decision import Kind
from samekind.errors import SettingError
from samekind.settings import Natural

#: The levels that thresholds are fitted for: every per cent from a half on, and two above.
LEVELS = (*(percent / 100 for percent in range(50, 100)), 0.995, 0.999)


@dataclass(frozen=True)
class Levels:
    """The least probability of a node for each of the first `LEVELS`, fitted on held-out items.

    There are fewer ``thresholds`` than levels if the items were too few to promise the highest. The classes
    were named by ``kind``; ``fitted_on`` names the items, ``items`` is their number, ``classes`` that of the
    classes which the space knew then, 0 where that is not known.
    """

    thresholds: tuple[float, ...]
    kind: Kind
    fitted_on: str
    items: Natural
    classes: Natural = 0

    def threshold(self, level: float) -> float | None:
        """The threshold for a share of right answers, or the next higher level that has one; else None."""
        place = bisect_left(LEVELS, check_level(level) - 1e-9)
        return self.thresholds[place] if place < len(self.thresholds) else None


def check_level(level: float) -> float:
    """The level; raises SettingError unless it is a share between 0 and 1."""
    if not 0 < level < 1:
        raise SettingError(f"expected a share of right answers between 0 and 1, such as 0.95, got {level:g}")
    return level
