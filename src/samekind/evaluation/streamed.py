"""Verification over more pairs than memory holds: counted in several passes, intervals from a sample."""

import math

import torch
from torch import Tensor

from samekind.decisions import Decision, Kind
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.trial_measures import MAIN, TRIAL_MEASURES, About, trial_rows
from samekind.inference.trials import Trials, pairs_within, walk_trials
from samekind.measures import StreamedRates, catalogue, streamed
from samekind.measures.trial_statistics import LEAST_COSTS
from samekind.space import MetricSpace

#: Trials stored at most: with sorting, below a gigabyte.
MOST_STORED = 10_000_000
#: Trials sampled for the intervals.
SAMPLED = 1_000_000


def streamed_rows(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    about: About,
    *,
    groups: Tensor | None = None,
    kind: Kind,
    decision: Decision | None,
    measures: Measures = "main",
    seed: int = 0,
    sampled: int = SAMPLED,
) -> list[Row]:
    """The rows of all pairs of a set, with ``groups`` (n,) of pairs from different groups, without storing
    them.

    EER, AUC and the rates at a threshold are exact. Their intervals come from a random sample, moved to the
    exact values, or widened to hold them if the sample has no error. The detection cost and Cllr are those of
    the sample, and their note says so.
    """
    rates = streamed(
        lambda: (
            (block.scores, block.same) for block in walk_trials(space, z, labels, groups=groups, kind=kind)
        ),
        threshold=decision.threshold if decision is not None else None,
    )
    part = drawn_trials(space, z, labels, groups=groups, kind=kind, most=sampled, seed=seed)
    rows = {row.measure: row for row in trial_rows(part, about, decision=decision, measures="all", seed=seed)}
    if decision is not None:
        mixed = trial_rows(_with_true_mixture(part, rates), about, decision=decision, seed=seed)
        rows |= {row.measure: row for row in mixed if row.measure == catalogue.ACCURACY_AT_THRESHOLD}
    for measure, value in _exact(rates).items():
        rows[measure] = _moved(rows[measure], value)
    for measure in (*(TRIAL_MEASURES[name] for name in LEAST_COSTS), catalogue.CLLR):
        if measure in rows:
            rows[measure] = rows[measure]._replace(note=f"of {len(part.scores):,} pairs")
    shown_measures = {
        TRIAL_MEASURES[statistic] for statistic in (TRIAL_MEASURES if measures == "all" else MAIN)
    }
    return [row for measure, row in rows.items() if measure in shown_measures]


def drawn_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    groups: Tensor | None = None,
    kind: Kind,
    most: int,
    seed: int = 0,
) -> Trials:
    """A random sample of about ``most`` pairs, half of them of one class if there are as many; with
    ``groups`` (n,), of pairs from different groups. The error rates are those of all pairs up to chance.
    """
    same, different = _counts(labels, groups)
    kept_same = min(1.0, most / 2 / max(same, 1))
    kept_different = min(1.0, (most - kept_same * same) / max(different, 1))
    generator = torch.Generator().manual_seed(seed)
    parts: list[Trials] = []
    for block in walk_trials(space, z, labels, groups=groups, kind=kind):
        chance = torch.rand(len(block.scores), generator=generator).to(block.scores.device)
        in_sample = chance < torch.where(block.same, kept_same, kept_different)
        parts.append(Trials(*(column[in_sample].cpu() for column in block)))
    return Trials(*(torch.cat(columns) for columns in zip(*parts, strict=True)))


def _counts(labels: Tensor, groups: Tensor | None) -> tuple[int, int]:
    """How many pairs are of one class and of two, without those within a group."""
    same, pairs = pairs_within(labels), len(labels) * (len(labels) - 1) // 2
    if groups is not None:
        different, place = torch.unique(groups, return_inverse=True)
        same -= pairs_within(labels.cpu() * len(different) + place.cpu())
        pairs -= pairs_within(groups)
    return same, pairs - same


def _exact(rates: StreamedRates) -> dict[str, float]:
    """The exact values of all pairs, by measure."""
    values: dict[str, float] = {catalogue.EER: rates.equal_error, catalogue.AUC: rates.area}
    if rates.false_accepts is not None and rates.false_rejects is not None:
        wrong = rates.false_accepts * rates.different + rates.false_rejects * rates.same
        values[catalogue.FAR_AT_THRESHOLD] = rates.false_accepts
        values[catalogue.FRR_AT_THRESHOLD] = rates.false_rejects
        values[catalogue.ACCURACY_AT_THRESHOLD] = 1 - wrong / (rates.same + rates.different)
    return values


def _with_true_mixture(part: Trials, rates: StreamedRates) -> Trials:
    """The sample with the mixture of both kinds that all pairs have, as accuracy depends on it."""
    counts = int(part.same.sum()), int((~part.same).sum())
    share = min(counts[0] / rates.same, counts[1] / rates.different)
    places = torch.cat(
        [
            # Evenly spread over the walk, which goes through the items one after the other.
            side.nonzero().flatten()[torch.linspace(0, count - 1, max(1, round(share * total))).long()]
            for side, count, total in (
                (part.same, counts[0], rates.same),
                (~part.same, counts[1], rates.different),
            )
        ]
    )
    return Trials(*(column[places] for column in part))


def _moved(row: Row, value: float) -> Row:
    """The row with another value and its interval moved along, on the scale of log odds. From 0 and 1, which
    have no odds, the interval is only widened to hold the value.
    """
    if row.low is None or row.high is None:
        return row._replace(value=value)
    if row.value in (0, 1):
        return row._replace(value=value, low=min(row.low, value), high=max(row.high, value))
    inside = [min(max(number, 1e-9), 1 - 1e-9) for number in (row.low, row.high, row.value, value)]
    low, high, before, now = (math.log(number / (1 - number)) for number in inside)
    ends = (1 / (1 + math.exp(before - now - end)) for end in (low, high))
    return row._replace(value=value, low=min(next(ends), value), high=max(next(ends), value))
