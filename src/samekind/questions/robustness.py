"""How many answers stay right when an attacker who knows the space changes the items?"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from samekind.attacks.regions import NORMS, Norm
from samekind.data import Items
from samekind.data.media.attacked import Attacked
from samekind.errors import SettingError, nearest
from samekind.evaluation.robustness import MOST, Budget
from samekind.evaluation.robustness import robustness as measured
from samekind.evaluation.robustness_curve import ASKED, Asked, Robustness
from samekind.evaluation.under_attack import Strength
from samekind.space import MetricSpace

#: Steps of an attack, and minutes that all curves may take, unless others are asked for.
STEPS, MINUTES = 50, 3.0


@dataclass(frozen=True)
class RobustnessSettings:
    """How to attack: without ``epsilons``, those that are usual for the items. ``limit`` is the number of
    items that are attacked, ``cells`` whether attacks within Voronoi cells are made, too.

    Without ``limit`` and ``steps`` there are 100 items and 50 steps, or as many as three ``minutes`` are
    enough for. What is given is kept; with either of them there is no limit to the time, unless ``minutes``
    are given, too.
    """

    norm: Norm = "linf"
    epsilons: tuple[float, ...] = ()
    steps: int | None = None
    restarts: int = 1
    questions: tuple[Asked, ...] = ASKED
    cells: bool = True
    fixed: tuple[str, ...] = ()
    limit: int | None = None
    minutes: float | None = None
    seed: int = 0

    @property
    def budget(self) -> Budget | None:
        """The time for all curves; None where it does not matter."""
        free = self.limit is None, self.steps is None
        minutes = MINUTES if self.minutes is None and all(free) else self.minutes
        return None if minutes is None else Budget(60 * minutes, *free, one_epsilon=not self.epsilons)


@dataclass(frozen=True, eq=False)
class Withstood:
    """The robustness of a space, on items of this name."""

    name: str
    measured: Robustness

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each curve whose attack failed a check."""
        return tuple(
            f"{curve.question}, {curve.kind} ({curve.measure}): {curve.soundness.note}"
            for curve in self.measured.curves
            if not curve.soundness.is_sound
        )

    def to_json(self) -> dict[str, Any]:
        strength = self.measured.strength
        return {
            "data": self.name,
            "items": self.measured.items,
            "norm": self.measured.norm,
            "unit": self.measured.unit,
            "epsilons": strength.epsilons,
            "steps": strength.steps,
            "restarts": strength.restarts,
            "curves": [curve.to_json() for curve in self.measured.curves],
            "nearest raw input, guaranteed": self.measured.guaranteed,
            "notes": self.measured.notes,
            "warnings": self.warnings,
        }


def robustness(
    space: MetricSpace,
    items: Items,
    settings: RobustnessSettings,
    *,
    surrogate: MetricSpace | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Withstood:
    """Curves of every question over epsilon, with the checks of the attacks. ``tell`` is called with how
    long it will take, and with the name of each curve before it is made.
    """
    usual = (items.medium.attacked(items.shape) or Attacked()).epsilons
    epsilons = tuple(sorted(set(settings.epsilons or usual[settings.norm])))
    measures = measured(
        space,
        items,
        Strength(epsilons, settings.steps or STEPS, settings.restarts, settings.seed),
        name=items.name,
        norm=settings.norm,
        questions=settings.questions,
        cells=settings.cells,
        surrogate=surrogate,
        fixed=settings.fixed,
        most=settings.limit or MOST,
        budget=settings.budget,
        tell=tell,
    )
    return Withstood(items.name, measures)


def read_epsilon(text: str, norm: Norm = "snr") -> float:
    """An epsilon above 0: a number, a fraction such as 8/255, or a signal-to-noise ratio such as 20dB, for
    the norm "snr". Raises SettingError.

    >>> read_epsilon("8/255") == 8 / 255, read_epsilon("0.3"), read_epsilon("20dB")
    (True, 0.3, 0.1)
    """
    given = text.strip().lower()
    if given.endswith("db") and norm != "snr":
        raise SettingError(f'epsilon "{text}" is a signal-to-noise ratio, which takes --norm snr; got {norm}')
    try:
        epsilon = (
            10 ** (-float(given.removesuffix("db")) / 20) if given.endswith("db") else float(Fraction(given))
        )
    except (ValueError, ZeroDivisionError, OverflowError):
        epsilon = 0.0
    if not 0 < epsilon < float("inf"):
        raise SettingError(f'epsilon: expected a number above 0 or a fraction such as 8/255, got "{text}"')
    return epsilon


def known_norm(text: str) -> Norm:
    """The norm of this name. Raises SettingError."""
    for norm in NORMS:
        if norm == text.lower():
            return norm
    raise SettingError(f'there is no norm "{text}"; {nearest(text, NORMS)}')
