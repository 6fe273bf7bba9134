"""What a space keeps about its scores, as plain values: thresholds, temperatures, standings.

A value is fitted in `samekind.inference` on validation items and stored in space.json.
"""

from samekind.decisions.decision import Decision, Kind, stored_decision
from samekind.decisions.standing import Standing, stored_standing
from samekind.decisions.temperature import Head, Temperature, mixed, stored_temperature

__all__ = [
    "Decision",
    "Head",
    "Kind",
    "Standing",
    "Temperature",
    "mixed",
    "stored_decision",
    "stored_standing",
    "stored_temperature",
]
