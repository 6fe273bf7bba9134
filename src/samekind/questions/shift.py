"""How much worse are answers about items from another domain?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from samekind.augmentations.corruptions import CORRUPTIONS, SEVERITIES
from samekind.data import Items, draw
from samekind.evaluation.shift import MOST, Shift, corrupted_sets, shifts
from samekind.space import MetricSpace


@dataclass(frozen=True)
class ShiftSettings:
    """Which corruptions to try where no other items are given, and how many items to compare."""

    corruptions: tuple[str, ...] = tuple(CORRUPTIONS)
    severities: tuple[int, ...] = SEVERITIES
    limit: int = MOST
    seed: int = 0


@dataclass(frozen=True)
class Shifted:
    """The home items, and each set beside them."""

    home: str
    sets: tuple[Shift, ...]

    def to_json(self) -> dict[str, Any]:
        return {"home": self.home, "sets": [one.to_json() for one in self.sets]}


def shift(
    space: MetricSpace,
    home: Items,
    away: Mapping[str, Items] | None = None,
    settings: ShiftSettings | None = None,
) -> Shifted:
    """Each set of ``away`` beside the home items of a space; without any, the home items corrupted."""
    used = settings or ShiftSettings()
    paired = not away
    if not away:
        home = draw(home, most=used.limit, seed=used.seed)
        away = corrupted_sets(home, used.corruptions, used.severities, seed=used.seed)
    return Shifted(
        home.name, tuple(shifts(space, home, away, paired=paired, most=used.limit, seed=used.seed))
    )
