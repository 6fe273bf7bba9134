"""A better kind of score: a hint for those who name none, if another did clearly better in validation."""

from typing import Literal, NamedTuple

from samekind.decisions import Standing
from samekind.space import MetricSpace

#: A gain below one point is not worth a hint, however certain it is.
SMALLEST_GAIN = 0.01

NAMES = {"cosine": "the cosine", "fused": "the fused score"}
ERRS_LESS = (
    "by {name} this space erred less on {items}: on {better:.2%} of pairs, against {own:.2%} by its own "
    "similarity (equal error)"
)
FINDS_MORE = (
    "by {name} this space found more on {items}: the most alike item was of the same class for {better:.1%}, "
    "against {own:.1%} by its own similarity"
)


class BetterKind(NamedTuple):
    """A kind of score, and in a sentence how much better it did."""

    kind: str
    sentence: str


def better_kind(space: MetricSpace, *, to: Literal["compare", "search"]) -> BetterKind | None:
    """The kind of score that did best in validation; None if none did clearly better than
    the space's own similarity, or if the space was not measured.

    To compare, that is the kind with the lower equal error of pairs; to search, the one that found the same
    class first more often.
    """
    own = space.standings.get("similarity")
    if own is None:
        return None
    gains = {kind: _gain(standing, own, to) for kind, standing in space.standings.items()}
    best = max(gains, key=gains.__getitem__)
    if gains[best] < SMALLEST_GAIN:
        return None
    better = space.standings[best]
    sentence = ERRS_LESS if to == "compare" else FINDS_MORE
    values = [standing.equal_error if to == "compare" else standing.recall for standing in (better, own)]
    return BetterKind(
        best,
        sentence.format(name=NAMES[best], items=better.measured_on, better=values[0], own=values[1]),
    )


def _gain(standing: Standing, own: Standing, to: str) -> float:
    """How much better than the own score it did; 0 if that may be chance."""
    if to == "compare":
        return own.equal_error - standing.equal_error if standing.errs_less else 0.0
    return standing.recall - own.recall if standing.finds_more else 0.0
