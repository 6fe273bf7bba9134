"""The limits of attacks on a medium: the range of valid values, and usual epsilons."""

from collections.abc import Mapping
from typing import NamedTuple

#: Signal-to-noise ratios from 60 to 20 decibels.
SHARES = tuple(10 ** (-decibels / 20) for decibels in (60, 50, 40, 30, 20))

#: In standard deviations.
DEVIATIONS = {
    "linf": (0.05, 0.1, 0.2, 0.5, 1.0),
    "l2": (0.1, 0.2, 0.5, 1.0, 2.0),
    "l1": (0.2, 0.5, 1.0, 2.0, 5.0),
    "snr": SHARES,
}


class Range(NamedTuple):
    """Valid values, from ``low`` to ``high``; epsilon is in this ``unit``. ``padding``, a number outside,
    stands for NaN inside an attack. ``decibels``: whether the size of a change is given in decibels, as for
    sounds.
    """

    low: float
    high: float
    unit: str
    padding: float | None = None
    decibels: bool = False


class Attacked(NamedTuple):
    """The ``range`` of valid values, None if any number is valid and epsilon is in standard deviations; and
    the ``epsilons`` that are tried, by norm, if none are named.
    """

    range: Range | None = None
    epsilons: Mapping[str, tuple[float, ...]] = DEVIATIONS
