"""The curve of a measure over epsilon, and everything that an attack on a space has shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from samekind.attacks.regions import Norm
from samekind.evaluation.rows import Row
from samekind.evaluation.soundness import Soundness
from samekind.evaluation.under_attack import Strength
from samekind.measures.catalogue import ACCURACY, GLOBAL_ROBUSTNESS, attacked
from samekind.measures.intervals import Interval
from samekind.measures.measure import Measure
from samekind.measures.robustness import written_epsilon

Asked = Literal["class", "pair", "neighbour", "enrolment"]
ASKED: tuple[Asked, ...] = get_args(Asked)
#: The question of all rows.
ROBUSTNESS = "robustness"
#: The measure of attacks that stay in Voronoi cells.
IN_CELLS = "Voronoi adversarial accuracy"


@dataclass(frozen=True, eq=False)
class Curve:
    """One question to one head or kind of score, at ``epsilons`` from 0 (no attack) on, a row for each. The
    checks were made at the place ``checked``. ``measure`` is the name without epsilon. The last epsilon of
    attacks in Voronoi cells is infinite: global robustness.
    """

    question: Asked
    measure: str
    kind: str
    epsilons: tuple[float, ...]
    rows: tuple[Row, ...]
    checked: int
    soundness: Soundness

    @property
    def shown(self) -> Row:
        """The row where the checks were made."""
        return self.rows[self.checked]

    @property
    def short_rows(self) -> tuple[Row, ...]:
        """The rows that a short table has: `shown`, and global robustness where it was measured."""
        without_limit = self.epsilons[-1] == torch.inf and self.checked < len(self.rows) - 1
        return (self.shown, self.rows[-1]) if without_limit else (self.shown,)

    def to_json(self) -> dict[str, Any]:
        """The curve as plain values; an infinite epsilon is null."""
        return {
            "question": self.question,
            "measure": self.measure,
            "kind": self.kind,
            "points": [
                {
                    "epsilon": None if epsilon == torch.inf else epsilon,
                    "value": row.value,
                    "low": row.low,
                    "high": row.high,
                }
                for epsilon, row in zip(self.epsilons, self.rows, strict=True)
            ],
            "checked at": self.epsilons[self.checked],
            "soundness": self.soundness.to_json(),
            "note": self.soundness.note,
        }


@dataclass(frozen=True, eq=False)
class Samples:
    """Items before and after an attack (n, …), their classes, and the names that the space gave them."""

    clean: Tensor
    attacked: Tensor
    epsilon: float
    truth: list[str]
    before: list[str]
    after: list[str]


@dataclass(frozen=True, eq=False)
class Robustness:
    """The measured curves. ``guaranteed`` are the shares that the nearest raw input keeps without an attack
    and at each epsilon, whatever the attack.
    """

    items: int
    norm: Norm
    unit: str
    strength: Strength
    curves: tuple[Curve, ...]
    guaranteed: tuple[float, ...]
    samples: Samples | None = None
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        return [row for curve in self.curves for row in curve.rows]


def curve_of(
    about: tuple[Asked, str, str],
    epsilons: Sequence[float],
    intervals: Sequence[Interval],
    checked: int,
    soundness: Soundness,
    *,
    items: str,
    unit: str = "items",
    clean: Measure = ACCURACY,
) -> Curve:
    """A curve about a question, a measure and a kind of score, from an interval for 0 and for each epsilon;
    ``clean`` is the measure without an attack. Rows under attack say where the attack was not sound.
    """
    question, measure, kind = about
    under_attack = (
        GLOBAL_ROBUSTNESS if epsilon == torch.inf else attacked(measure, written_epsilon(epsilon))
        for epsilon in epsilons
    )
    rows = tuple(
        Row(ROBUSTNESS, items, entry, kind, *interval, unit, soundness.note if place else "")
        for place, (entry, interval) in enumerate(zip((clean, *under_attack), intervals, strict=True))
    )
    return Curve(question, measure, kind, (0.0, *epsilons), rows, checked + 1, soundness)
