"""Trials to rows: how well scores separate pairs of one class from pairs of two, with intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Decision
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.samples import Compared, difference
from samekind.inference.trials import Trials
from samekind.measures import FEWEST_CLASSES, bootstrap_trials, catalogue, paired_bootstrap
from samekind.measures.costs import Costs
from samekind.measures.measure import Measure
from samekind.measures.trial_statistics import Statistic, value_of

#: The prior of "same" in the detection cost; the strict one takes a tenth of it.
PRIOR = 0.01
#: The measure of each statistic, in the order of the tables.
TRIAL_MEASURES: dict[Statistic, Measure] = {
    "EER": catalogue.EER,
    "AUC": catalogue.AUC,
    "minDCF": catalogue.least_detection_cost(PRIOR),
    "accuracy": catalogue.ACCURACY_AT_THRESHOLD,
    "FAR": catalogue.FAR_AT_THRESHOLD,
    "FRR": catalogue.FRR_AT_THRESHOLD,
    "strict minDCF": catalogue.least_detection_cost(Costs(PRIOR, 1.0, 1.0).strict.prior),
    "Cllr": catalogue.CLLR,
}
MAIN: tuple[Statistic, ...] = ("EER", "AUC", "minDCF", "accuracy")


class About(NamedTuple):
    """The subject of trials: the question, the items and the kind of score."""

    question: str
    items: str
    kind: str


def trial_rows(
    trials: Trials, about: About, *, decision: Decision | None, measures: Measures = "main", seed: int = 0
) -> list[Row]:
    """EER, AUC and the least detection cost; with a ``decision`` also accuracy at its threshold, and with
    ``measures="all"`` both error rates there, the least detection cost at a tenth of the prior, and the cost
    of its calibrated log likelihood ratios.

    The intervals come from drawing classes again, on both sides; fewer than three classes have none.
    """
    rows = []
    for scores, names in _scores_and_measures(trials.scores, decision, measures):
        values = _values(trials._replace(scores=scores), names, decision, seed)
        for name in names:
            value, low, high = values[name]
            row = Row(*about[:2], TRIAL_MEASURES[name], about.kind, value)
            # An interval without width is left out.
            rows.append(row if low == high else row._replace(low=low, high=high, unit="classes"))
    return rows


def trial_differences(
    first: Trials,
    second: Trials,
    about: About,
    *,
    decisions: tuple[Decision | None, Decision | None],
    measures: Measures = "main",
    seed: int = 0,
) -> list[Compared]:
    """Each measure of two systems on the same trials, which must come in the same order."""
    if not torch.equal(first.first, second.first) or not torch.equal(first.second, second.second):
        raise ValueError("expected the trials of two systems in the same order")
    rows = []
    score_pairs = zip(
        _scores_and_measures(first.scores, decisions[0], measures),
        _scores_and_measures(second.scores, decisions[1], measures),
        strict=False,  # the scores come before the log likelihood ratios, which one of the two may not have
    )
    for (scores, names), (second_scores, second_names) in score_pairs:
        names = [name for name in names if name in second_names]
        one, other = first._replace(scores=scores), second._replace(scores=second_scores)
        rows += _differences(one, other, names, about, decisions, seed)
    return rows


def _scores_and_measures(
    scores: Tensor, decision: Decision | None, measures: Measures
) -> list[tuple[Tensor, list[Statistic]]]:
    """Scores and their measures; last, if asked for, the calibrated log likelihood ratios and theirs."""
    names: list[Statistic] = [name for name in MAIN if name != "accuracy" or decision is not None]
    if measures == "main" or decision is None:
        return [(scores, names)]
    parts = [(scores, [*names, "FAR", "FRR", "strict minDCF"])]
    if decision.calibration is not None:
        slope, offset = decision.calibration
        parts.append((slope * scores.double() + offset, ["Cllr"]))
    return parts


def _values(
    trials: Trials, names: Sequence[Statistic], decision: Decision | None, seed: int
) -> dict[Statistic, tuple[float, float | None, float | None]]:
    """Each measure with the ends of its interval, or None twice if there are too few classes."""
    threshold = decision.threshold if decision is not None else None
    if not _enough(trials):
        costs = Costs(PRIOR, 1.0, 1.0)
        plain = {name: value_of(name, trials.scores, trials.same, threshold, costs) for name in names}
        return {name: (value, None, None) for name, value in plain.items()}
    intervals = bootstrap_trials(*trials, statistics=names, threshold=threshold, prior=PRIOR, seed=seed)
    return {name: intervals[name] for name in names}


def _differences(
    first: Trials,
    second: Trials,
    names: Sequence[Statistic],
    about: About,
    decisions: tuple[Decision | None, Decision | None],
    seed: int,
) -> list[Compared]:
    first_decision, second_decision = decisions
    thresholds = (
        (first_decision.threshold, second_decision.threshold)
        if first_decision is not None and second_decision is not None
        else None
    )
    costs, differences = Costs(PRIOR, 1.0, 1.0), {}
    if _enough(first):
        differences = paired_bootstrap(
            first.scores,
            second.scores,
            *first[1:],
            statistics=names,
            thresholds=thresholds,
            prior=PRIOR,
            seed=seed,
        )
    rows = []
    for name in names:
        values = [
            value_of(
                name, trials.scores, trials.same, decision.threshold if decision is not None else None, costs
            )
            for trials, decision in zip((first, second), decisions, strict=True)
        ]
        (_, low, high), p_value = differences.get(name, ((0, None, None), None))
        measured = (about.question, about.items, TRIAL_MEASURES[name], about.kind)
        rows.append(difference(measured, (values[0], values[1]), (low, high), p_value, "classes"))
    return rows


def _enough(trials: Trials) -> bool:
    """Whether there are enough classes for an interval."""
    # The first trials nearly always show enough classes: look at them before sorting millions.
    few = len(torch.unique(torch.cat([trials.first[:1000], trials.second[:1000]])))
    return (
        few >= FEWEST_CLASSES or len(torch.unique(torch.cat([trials.first, trials.second]))) >= FEWEST_CLASSES
    )
