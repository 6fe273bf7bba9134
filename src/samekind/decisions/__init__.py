"""What a space keeps about its scores, as plain values: thresholds, temperatures, standings.

A value is fitted in `samekind.inference` on validation items and stored in space.json.

- `Decision`: a threshold for one kind of score, with its operating point, error rates and calibration.
- `Temperature`: what the logits of a head are divided by. It never changes which class is first.
- `Standing`: how a kind of score did beside the space's own (equal error of pairs, same class found first).
"""

from samekind.decisions.decision import Decision, Kind
from samekind.decisions.record import Record
from samekind.decisions.standing import Standing
from samekind.decisions.temperature import Head, Temperature, mixed

__all__ = ["Decision", "Head", "Kind", "Record", "Standing", "Temperature", "mixed"]
