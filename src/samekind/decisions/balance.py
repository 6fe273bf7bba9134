"""The bonus with which enrolled classes are named as often as they should be, beside trained ones."""

from dataclasses import dataclass

from samekind.decisions.standing import Share


@dataclass(frozen=True)
class Balance:
    """A number that is added to the scores of enrolled classes before the best class is taken.

    A class that was trained on scores high by habit: its items were drawn together and all others pushed
    away. ``known`` and ``new`` are the shares of held-out items of known and of enrolled classes that are
    named rightly with the ``bonus``; None if there were no classes to enrol.
    """

    bonus: float
    measured_on: str
    known: Share | None = None
    new: Share | None = None
