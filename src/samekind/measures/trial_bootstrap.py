"""Measures of verification with their intervals, the classes on both sides of the trials drawn again.

`bootstrap` describes how draws become an interval, `resampling` how trials are weighted.
"""

from collections.abc import Sequence
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from samekind.measures.bootstrap import (
    Difference,
    cost_interval_around,
    difference_around,
    interval_around,
    lowest_interval_around,
)
from samekind.measures.costs import Costs
from samekind.measures.intervals import Interval
from samekind.measures.resampling import Counted, Numbers, class_weights, count_trials, curves
from samekind.measures.sorted_trials import checked
from samekind.measures.trial_statistics import (
    Single,
    Statistic,
    Unseen,
    check_statistics,
    not_too_sure,
    value_of,
    values_of,
)

#: With fewer classes, hardly a replicate has trials of both kinds and differs from the test itself.
FEWEST_CLASSES = 3


def bootstrap_trials(
    scores: Tensor,
    same: Tensor,
    first: Tensor,
    second: Tensor,
    *,
    statistics: Sequence[Statistic] = ("EER", "AUC"),
    threshold: float | None = None,
    prior: float = 0.01,
    miss_cost: float = 1.0,
    false_accept_cost: float = 1.0,
    replicates: int = 500,
    seed: int = 0,
    most_trials: int = 1_000_000,
) -> dict[str, Interval]:
    """Measures of (trials,) scores with their intervals, the classes on both sides drawn again.

    ``first`` and ``second`` (trials,) are the labels of the two sides, three classes or more. "FAR", "FRR"
    and "accuracy" are at the ``threshold``; "minDCF" is for the ``prior`` and the costs, "strict minDCF" for
    a tenth of the prior; "Cllr" reads scores as log likelihood ratios. Without errors, or with errors only,
    the interval is at least as wide as that of one exception. Beyond ``most_trials`` its width is that of a
    random sample, a little wider; the value is that of all trials.

    >>> scores, same = torch.tensor([4.0, 3, 2, 3, 2, 1]), torch.tensor([True] * 3 + [False] * 3)
    >>> first, second = torch.tensor([0, 1, 2, 0, 0, 1]), torch.tensor([0, 1, 2, 1, 2, 2])
    >>> bootstrap_trials(scores, same, first, second, statistics=["FAR"], threshold=2.5)["FAR"].mean
    0.3333333333333333
    """
    costs = Costs(prior, miss_cost, false_accept_cost)
    check_statistics(statistics, [threshold], costs, replicates)
    same, sides, classes = _checked_trials(scores, same, first, second)
    [counts] = _counted([scores], same, sides, classes, [threshold], most_trials, seed)
    weights = class_weights(classes, replicates, seed)
    measured = _replicates([counts], weights, (*statistics, *get_args(Single)), costs)
    unseen = _unseen(measured, same, classes)
    intervals: dict[str, Interval] = {}
    for name in statistics:
        value = value_of(name, scores, same, threshold, costs)
        interval = _around(name, value, measured[name][0], classes)
        intervals[name] = not_too_sure(name, interval, same, costs, unseen)
    return intervals


def paired_bootstrap(
    scores: Tensor,
    others: Tensor,
    same: Tensor,
    first: Tensor,
    second: Tensor,
    *,
    statistics: Sequence[Statistic] = ("EER", "AUC"),
    thresholds: tuple[float, float] | None = None,
    prior: float = 0.01,
    miss_cost: float = 1.0,
    false_accept_cost: float = 1.0,
    replicates: int = 500,
    seed: int = 0,
    most_trials: int = 1_000_000,
) -> dict[str, Difference]:
    """Each measure of ``scores`` minus that of ``others``, two systems on the same trials.

    As `bootstrap_trials`, with the same draws of classes for both. ``thresholds`` are those of the two
    systems. The p-value is by Student's t: below 0.05 if the interval excludes 0.

    >>> scores, same = torch.tensor([4.0, 3, 2, 3, 2, 1]), torch.tensor([True] * 3 + [False] * 3)
    >>> first, second = torch.tensor([0, 1, 2, 0, 0, 1]), torch.tensor([0, 1, 2, 1, 2, 2])
    >>> paired_bootstrap(scores, scores, same, first, second)["EER"]
    Difference(interval=Interval(mean=0.0, low=0.0, high=0.0), p_value=1.0)
    """
    cuts: Sequence[float | None] = thresholds or (None, None)
    costs = Costs(prior, miss_cost, false_accept_cost)
    check_statistics(statistics, cuts, costs, replicates)
    _checked_trials(others, same, first, second)
    same, sides, classes = _checked_trials(scores, same, first, second)
    counts = _counted([scores, others], same, sides, classes, cuts, most_trials, seed)
    measured = _replicates(counts, class_weights(classes, replicates, seed), statistics, costs)
    differences: dict[str, Difference] = {}
    for name in statistics:
        first_value = value_of(name, scores, same, cuts[0], costs)
        second_value = value_of(name, others, same, cuts[1], costs)
        differences[name] = difference_around(
            first_value - second_value, measured[name][0] - measured[name][1], classes
        )
    return differences


def _replicates(
    counts: Sequence[Counted], weights: Numbers, statistics: Sequence[Statistic | Single], costs: Costs
) -> dict[str, list[Numbers]]:
    """Each measure of each set of trials in every usable replicate."""
    parts: dict[str, list[list[Numbers]]] = {name: [] for name in statistics}
    for systems in curves(counts, weights):
        for name in statistics:
            parts[name].append([values_of(name, curve, costs) for curve in systems])
    return {
        name: [np.concatenate(values) for values in zip(*rounds, strict=True)]
        for name, rounds in parts.items()
    }


def _around(name: Statistic, value: float, replicates: Numbers, classes: int) -> Interval:
    """The interval of a measure by the scale that suits it."""
    match name:
        case "Cllr":
            return cost_interval_around(value, replicates, classes)
        case "minDCF" | "strict minDCF":
            return lowest_interval_around(value, replicates, classes)
    return interval_around(value, replicates, classes, is_share=True)


def _unseen(measured: dict[str, list[Numbers]], same: Tensor, classes: int) -> Unseen:
    """The upper ends of the two error rates if one trial of each kind were wrong."""
    targets = int(same.sum())
    counts = len(same) - targets, targets
    return Unseen(
        *(
            interval_around(1 / count, measured[name][0], classes, is_share=True).high
            for name, count in zip(get_args(Single), counts, strict=True)
        )
    )


def _checked_trials(
    scores: Tensor, same: Tensor, first: Tensor, second: Tensor
) -> tuple[Tensor, Tensor, int]:
    """Whether each trial is of one class, the indices (2, trials) of the classes, and how many there are."""
    _, same = checked(scores, same)
    if first.shape != same.shape or second.shape != same.shape:
        shapes = f"{tuple(first.shape)} and {tuple(second.shape)}"
        raise ValueError(f"expected first and second of shape {tuple(same.shape)} as same, got {shapes}")
    if not torch.equal(same, first == second):
        wrong = int((same != (first == second)).sum())
        raise ValueError(f"expected same to be first == second, got {wrong} trials where it is not")
    names, sides = torch.unique(torch.stack([first, second]).detach().cpu(), return_inverse=True)
    if len(names) < FEWEST_CLASSES:
        raise ValueError(f"expected trials of at least {FEWEST_CLASSES} classes, got {len(names)}")
    return same.cpu(), sides, len(names)


def _counted(
    systems: Sequence[Tensor],
    same: Tensor,
    sides: Tensor,
    classes: int,
    thresholds: Sequence[float | None],
    most_trials: int,
    seed: int,
) -> list[Counted]:
    """The counted trials of each system. Of too many trials, all systems use the same random part."""
    shares = (1.0, 1.0)
    places = torch.arange(len(same))
    if len(same) > most_trials:
        generator = torch.Generator().manual_seed(seed)
        by_answer = [answer.nonzero().flatten() for answer in (same, ~same)]
        # Same-class trials are far fewer and matter more: keep as many of them as possible.
        fewer = min(map(len, by_answer))
        most = [
            max(most_trials // 2, most_trials - fewer) if len(answer) > fewer else most_trials // 2
            for answer in by_answer
        ]
        parts = [
            answer[torch.randperm(len(answer), generator=generator)[:limit]]
            for answer, limit in zip(by_answer, most, strict=True)
        ]
        shares = (len(parts[0]) / len(by_answer[0]), len(parts[1]) / len(by_answer[1]))
        places = torch.cat(parts)
    return [
        count_trials(
            scores.detach().cpu()[places],
            same[places],
            sides[:, places],
            classes=classes,
            threshold=threshold,
            shares=shares,
        )
        for scores, threshold in zip(systems, thresholds, strict=True)
    ]
