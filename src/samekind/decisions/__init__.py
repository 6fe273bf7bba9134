"""Decisions of a space about its scores, as plain values: thresholds, temperatures, standings, choices.

A value is fitted in `samekind.inference` on validation items and stored in space.json.

- `Decision`: a threshold for one kind of score, with its operating point, error rates and calibration.
- `Temperature`: what the logits of a head are divided by. It never changes which class is first.
- `Standing`: how a kind of score did beside the space's own (equal error of pairs, same class found first).
- `Balance`: what is added to the scores of enrolled classes, so that they stand beside the known ones.
- `Choices`: the kind of score for pairs, neighbours and classes when the user names none.
- `Levels`: from which probability on a node of the tree is an answer, for each wanted share of right ones.
- `Ladder`: what each rung of the house recipe gave on classes that it was not fitted to.
"""

from samekind.decisions.balance import Balance
from samekind.decisions.choices import Choices, Question
from samekind.decisions.decision import Decision, Kind
from samekind.decisions.ladder import Ladder, Rung
from samekind.decisions.levels import Levels
from samekind.decisions.record import Record
from samekind.decisions.stale import stale_threshold
from samekind.decisions.standing import Standing
from samekind.decisions.temperature import Head, Temperature, mixed

__all__ = [
    "Balance",
    "Choices",
    "Decision",
    "Head",
    "Kind",
    "Ladder",
    "Levels",
    "Question",
    "Record",
    "Rung",
    "Standing",
    "Temperature",
    "mixed",
    "stale_threshold",
]
