"""Does a space beat its start: the untrained features of its encoder, or the raw input?

A space that does not was not worth the training.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from samekind.evaluation.beside_known import QUESTION as BESIDE_KNOWN
from samekind.evaluation.rows import Row
from samekind.evaluation.untrained import UNTRAINED
from samekind.measures.catalogue import ACCURACY, EER, recall

#: The question of the space that a reference is compared with, by measure; the others are of new classes
#: beside known ones.
ANSWERED: dict[str, str] = {ACCURACY: "classification", recall(1): "retrieval", EER: "verification"}

#: "unsure" is better, but not by more than the interval. "equal" is as good as can be, and so is the start.
Verdict = Literal["better", "unsure", "equal", "not better"]


class Gain(NamedTuple):
    """A measure of a space beside the best that needs no training."""

    own: Row
    start: Row

    @property
    def points(self) -> float:
        """How much better the space is, as a share; below 0 where it is worse."""
        sign = -1 if self.own.entry.better == "lower" else 1
        return sign * (self.own.value - self.start.value)

    @property
    def verdict(self) -> Verdict:
        """Whether the space is better, by more than its interval."""
        lower = self.own.entry.better == "lower"
        if self.own.value == (0 if lower else 1):  # such a value has no interval
            return "better" if self.points > 0 else "equal"
        if self.points <= 0:
            return "not better"
        end = self.own.high if lower else self.own.low
        nearest = self.own if end is None else self.own._replace(value=end)
        return "better" if Gain(nearest, self.start).points > 0 else "unsure"

    @property
    def sentence(self) -> str:
        """The two values and their difference, in words."""
        words = {"better": "beats", "unsure": "does not surely beat", "equal": "equals"}
        points = f"{self.own.entry.number(self.points, sign='+')} points"
        after = "neither can be better" if self.verdict == "equal" else points
        return (
            f"{self.own.measure}, {self.own.items}: {self._value_text(self.own)} by {self.own.kind} "
            f"{words.get(self.verdict, 'does not beat')} {self._value_text(self.start)} by "
            f"{self.start.kind.removesuffix(UNTRAINED).strip()}: {after}"
        )

    def to_json(self) -> dict[str, Any]:
        return {"own": self.own._asdict(), "start": self.start._asdict(), "verdict": self.verdict}

    @staticmethod
    def _value_text(row: Row) -> str:
        return row.entry.write(row.value)


def gains(rows: Iterable[Row]) -> list[Gain]:
    """Accuracy, Recall@1, EER and the naming of new classes beside known ones, of each set of items, beside
    the best of the references.

    The space's value is by the kind of score that comes first: the one that it answers by. What has no
    reference, or no value of the space, is left out.

    >>> own = Row("classification", "seen", "accuracy", "similarity", 0.44, 0.34, 0.55, "items")
    >>> [gain] = gains([own, Row("reference", "seen", "accuracy", "nearest raw input", 0.74)])
    >>> gain.sentence
    'accuracy, seen: 44.00% by similarity does not beat 74.00% by nearest raw input: -30.00 points'
    """
    rows = list(rows)
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.is_reference:
            place = (row.measure, row.items)
            if place not in best or Gain(row, best[place]).points > 0:
                best[place] = row
    pairs = [(_own(rows, reference), reference) for reference in best.values()]
    return [Gain(own, reference) for own, reference in pairs if own is not None]


def verdict_in_words(compared: Sequence[Gain]) -> str:
    """Whether a space beats its start, in one sentence; empty without gains.

    >>> own = Row("retrieval", "unseen", "Recall@1", "cosine", 0.8, 0.7, 0.9, "queries")
    >>> verdict_in_words(gains([own, Row("reference", "unseen", "Recall@1", "nearest raw input", 0.6)]))
    'It beats its start, the raw input, in 1 of 1 measures.'
    """
    if not compared:
        return ""
    untrained = any(gain.start.kind.endswith(UNTRAINED) for gain in compared)
    start = f"its start, the {'untrained features' if untrained else 'raw input'}"
    verdicts = Counter(gain.verdict for gain in compared)
    if verdicts["not better"]:
        return f"It does not beat {start}, in {verdicts['not better']} of {len(compared)} measures."
    if verdicts["equal"] == len(compared):
        return f"It is as good as {start}: neither can be better."
    beaten = verdicts["better"] + verdicts["unsure"]
    unsure = f" ({verdicts['unsure']} within the interval)" if verdicts["unsure"] else ""
    return f"It beats {start}, in {beaten} of {len(compared)} measures{unsure}."


def _own(rows: Sequence[Row], reference: Row) -> Row | None:
    """The row of the space's own score that a reference is compared with, if there is one."""
    beginning = (ANSWERED.get(reference.measure, BESIDE_KNOWN), reference.items, reference.measure)
    return next((row for row in rows if row[:3] == beginning), None)
