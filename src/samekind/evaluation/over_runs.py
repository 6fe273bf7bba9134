"""Which measures rise together over several runs?"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from samekind.errors import DataError

#: Of fewer runs no correlation is taken.
FEWEST = 4


class RankCorrelation(NamedTuple):
    """Spearman's rank correlation over ``runs`` runs, and how likely one as far from 0 is by chance."""

    coefficient: float
    p_value: float
    runs: int


def rank_correlation(runs: Sequence[Mapping[str, float]], one: str, other: str) -> RankCorrelation | None:
    """The rank correlation of two measures over the runs that have both. A run is its measures by name. None
    if a measure is equal in all runs. Raises DataError for fewer than four runs.

    >>> runs = [{"top-1": 0.6, "HP@5": 0.5}, {"top-1": 0.7, "HP@5": 0.6}, {"top-1": 0.8, "HP@5": 0.9}]
    >>> rank_correlation([*runs, {"top-1": 0.9, "HP@5": 0.8}], "top-1", "HP@5").coefficient
    0.8
    """
    from scipy.stats import spearmanr

    pairs = [(run[one], run[other]) for run in runs if one in run and other in run]
    if len(pairs) < FEWEST:
        raise DataError(f"expected {FEWEST} runs or more with {one} and {other}, got {len(pairs)}")
    first, second = zip(*pairs, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return None
    answer = spearmanr(first, second)
    return RankCorrelation(round(float(answer.statistic), 12), float(answer.pvalue), len(pairs))
