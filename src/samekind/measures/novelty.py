"""Novelty: how well one number tells items of new kinds from items of known ones.

Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2:
asymptotic methods and evaluation", Statistics in Medicine 2006 (method 5).
"""

import math

from torch import Tensor

from samekind.measures.intervals import Interval
from samekind.measures.verification import area_under_curve


def novelty_auroc(newness: Tensor, is_new: Tensor) -> Interval:
    """The chance that a new item looks newer than a known one, a tie counting half, and its 95 % interval.

    ``newness`` is (n,), higher meaning newer, ``is_new`` (n,) boolean; items of both kinds are needed. 1 for
    perfect separation, 0.5 for an uninformative number. The interval is for items drawn independently: items
    of few classes, or many pictures of one thing, deserve a wider one. It stays within 0 and 1, and has a
    width even for perfect separation.

    >>> import torch
    >>> found = novelty_auroc(torch.tensor([4.0, 3.0, 2.0, 1.0]), torch.tensor([True, True, False, False]))
    >>> found.mean, round(found.low, 3), found.high
    (1.0, 0.386, 1.0)
    """
    value = area_under_curve(newness, is_new)
    news = int(is_new.sum())
    knowns = len(is_new) - news
    return Interval(value, _end(value, news, knowns, 0.0), _end(value, news, knowns, 1.0))


def _end(value: float, news: int, knowns: int, outermost: float) -> float:
    """The end of the interval, by bisection: the value is 1.96 standard errors (of the end) away from it."""
    inside, outside = value, outermost
    for _ in range(60):
        middle = (inside + outside) / 2
        if abs(value - middle) <= 1.96 * math.sqrt(_variance(middle, news, knowns)):
            inside = middle
        else:
            outside = middle
    # At 0 and 1 the error is 0: bisection never reaches them, unless the value is there already.
    return inside if value != outermost else outermost


def _variance(value: float, news: int, knowns: int) -> float:
    """The variance of the Mann-Whitney share for exponential scores, equal sizes (Hanley and McNeil)."""
    freedom = (news + knowns) / 2 - 1
    spread = 1 + freedom * (1 - value) / (2 - value) + freedom * value / (1 + value)
    return value * (1 - value) * spread / (news * knowns)
