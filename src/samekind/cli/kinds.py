"""Which kind of score to ask, where none is named: said once if another did clearly better than the own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.space import MetricSpace, Standing

#: A gain below a hundredth, sure as it may be, is no reason to ask by another score.
WORTH_SAYING = 0.01

NAMES = {"cosine": "the cosine", "fused": "the fused score"}
ERRS_LESS = (
    "by {name} this space erred less on {items}: on {better:.2%} of pairs, against {own:.2%} by its own "
    "similarity (equal error); {how}"
)
FINDS_MORE = (
    "by {name} this space found more on {items}: the most alike item was of the same class for {better:.1%}, "
    "against {own:.1%} by its own similarity; {how}"
)


def better_kind(
    space: "MetricSpace", *, to: Literal["compare", "search"], how: str = "--kind {kind} asks by it"
) -> str | None:
    """A sentence about the kind of score that did best where the space was measured; None where none did
    clearly better than its own similarity, and for a space that was not measured.

    ``to`` compare, that is which told pairs of one class from pairs of two; to search, which found the same
    class first. ``how`` says what to do about it.
    """
    own = space.standings.get("similarity")
    if own is None:
        return None
    gains = {kind: _gain(each, own, to) for kind, each in space.standings.items()}
    best = max(gains, key=gains.__getitem__)
    if gains[best] < WORTH_SAYING:
        return None
    found = space.standings[best]
    sentence = ERRS_LESS if to == "compare" else FINDS_MORE
    values = [each.equal_error if to == "compare" else each.recall for each in (found, own)]
    return sentence.format(
        name=NAMES[best], items=found.measured_on, better=values[0], own=values[1], how=how.format(kind=best)
    )


def say_better_kind(
    space: "MetricSpace", *, to: Literal["compare", "search"], how: str = "--kind {kind} asks by it"
) -> None:
    """The same on the standard error."""
    from samekind.cli.output import messages

    if (sentence := better_kind(space, to=to, how=how)) is not None:
        messages().print(sentence, soft_wrap=True)


def standings_table(standings: Mapping[str, "Standing"]) -> "Table":
    """One line for each kind of score."""
    from samekind.cli.output import table

    lines = [[kind, f"{each.equal_error:.2%}", f"{each.recall:.1%}"] for kind, each in standings.items()]
    return table("Kinds of score", ["score", "equal error of pairs", "same class found first"], lines)


def _gain(one: "Standing", own: "Standing", to: str) -> float:
    """By how much better it did, 0 where that may be chance."""
    if to == "compare":
        return own.equal_error - one.equal_error if one.errs_less else 0.0
    return one.recall - own.recall if one.finds_more else 0.0
