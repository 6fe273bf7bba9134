"""What papers claim that a grid can speak to, each as a difference of two systems, paired by seed."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from grids.results import Results
from samekind.measures import paired_difference, paired_p_value


class Side(NamedTuple):
    """One of the two that are compared: a variant of the grid, and the score or head that answers."""

    variant: str
    kind: str


class Claim(NamedTuple):
    """``first`` is said to be better than ``second``, by ``by`` points at least; or, where ``within`` is
    given, no more than so many points away from it.

    ``second`` may be a number that was published. ``more`` are further pairs that the claim is about as
    well: a seed counts once, with the mean over all pairs, because what shares a split is not independent.
    ``primary`` marks the one claim of a page that was named before the runs: it stands alone, while the
    others are corrected for their number.
    """

    sentence: str
    measured: str
    measure: str
    first: Side
    second: Side | float
    better: str = "lower"
    within: float | None = None
    by: float = 0.0
    more: tuple[tuple[Side, Side | float], ...] = ()
    primary: bool = False


class Said(NamedTuple):
    """The difference as it is printed, and what follows from it."""

    difference: str
    verdict: str


def in_words(claim: Claim, first: Sequence[float], second: Sequence[float]) -> Said:
    """Holds or does not where the whole 95% interval says so; else it cannot be told."""
    if len(first) < 2:
        return Said(f"{first[0] - second[0]:+.2f}", "cannot be told from one seed")
    mean, low, high = paired_difference(first, second)
    written = f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"
    if claim.within is not None:
        holds, fails = max(-low, high) <= claim.within, low > claim.within or high < -claim.within
    elif claim.better == "lower":
        holds, fails = high < -claim.by, low > -claim.by
    else:
        holds, fails = low > claim.by, high < claim.by
    return Said(written, "holds" if holds else "does not hold" if fails else "cannot be told")


def p_value(claim: Claim, first: Sequence[float], second: Sequence[float]) -> float | None:
    """How probable a difference as large is by chance, two-sided; None from one seed. Of a claim that two are
    within a number it is that of the nearer end, so that it is below 0.05 where the verdict is one.
    """
    if len(first) < 2:
        return None
    if claim.within is None:
        return paired_p_value(first, second, by=-claim.by if claim.better == "lower" else claim.by)
    ends = [paired_p_value(first, second, by=end) for end in (-claim.within, claim.within)]
    inside = abs(paired_difference(first, second).mean) <= claim.within
    return max(ends) if inside else min(ends)


def compared(results: Results, claim: Claim) -> tuple[list[float], list[float]]:
    """What both sides measured, seed by seed, where both were run; the mean of them where the claim is about
    several pairs, for the seeds that have all of them.
    """
    pairs = [_of_pair(results, claim.measure, *sides) for sides in ((claim.first, claim.second), *claim.more)]
    seeds = sorted(set.intersection(*(set(by_seed) for by_seed in pairs)))
    means = [[fmean(by_seed[seed][side] for by_seed in pairs) for seed in seeds] for side in (0, 1)]
    return means[0], means[1]


def _of_pair(
    results: Results, measure: str, first: Side, second: Side | float
) -> dict[int, tuple[float, float]]:
    """What the two measured, by seed."""
    one = results.values(first.variant, measure, first.kind)
    if isinstance(second, Side):
        two = results.values(second.variant, measure, second.kind)
        if results.is_untrained(second.variant) and two:
            two = dict.fromkeys(one, next(iter(two.values())))  # the same whatever the seed
    else:
        two = dict.fromkeys(one, second)
    return {seed: (one[seed], two[seed]) for seed in one.keys() & two.keys()}
