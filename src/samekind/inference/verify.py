"""Are these two the same kind? All trials of a set, and the threshold fitted on them."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.inference.embed import asking, device_of
from samekind.measures import equal_error_rate, rates_at, threshold_at
from samekind.space import Decision, Kind, MetricSpace

STRIP = 256  # items


class Trials(NamedTuple):
    """Scores of pairs of items, and whether each pair is of one kind."""

    scores: Tensor  # (trials,)
    same: Tensor  # (trials,)


def all_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    kind: Kind = "similarity",
    memory_budget: int | None = None,
) -> Trials:
    """Every unordered pair of a set once, the earlier item first: (n, d), (n,) -> n (n - 1) / 2 trials."""
    z, labels = z.to(device_of(space)), labels.cpu()
    scores, same = [], []
    with asking(space):
        for top in range(0, len(z), STRIP):
            # A strip of items against those from its first one on: nearly nothing is scored in both orders.
            strip, rest = z[top : top + STRIP], z[top:]
            for rows, columns, block in space.blocks(strip, rest, kind=kind, memory_budget=memory_budget):
                first, second = torch.arange(len(strip))[rows] + top, torch.arange(len(rest))[columns] + top
                earlier = first[:, None] < second
                scores.append(block.float().cpu()[earlier])
                same.append((labels[first, None] == labels[second])[earlier])
    if not scores:
        return Trials(torch.empty(0), torch.empty(0, dtype=torch.bool))
    return Trials(torch.cat(scores), torch.cat(same))


def fit_decision(trials: Trials, *, kind: Kind, point: str = "eer", description: str) -> Decision:
    """The threshold at an operating point, with the error rates it has on these trials and a calibration.

    ``point`` is ``"eer"`` (both errors equally frequent) or ``"far=RATE"`` (false accepts at most this
    frequent).
    """
    threshold = _threshold(trials, point)
    accepts, rejects = rates_at(trials.scores, trials.same, threshold)
    counts = int(trials.same.sum()), int((~trials.same).sum())
    return Decision(
        kind=kind,
        threshold=threshold,
        point=point,
        trials=f"{description}: {counts[0]:,} same, {counts[1]:,} different",
        false_accepts=accepts,
        false_rejects=rejects,
        calibration=calibrate(trials),
    )


def calibrate(trials: Trials, *, steps: int = 100) -> tuple[float, float]:
    """Slope and offset of the logistic curve from score to probability, both kinds of trial counting the
    same.

    Newton's method on the weighted likelihood with a small ridge, so that perfectly separated trials give a
    steep curve and not an infinite one.
    """
    scores, same = trials.scores.double(), trials.same.double()
    centre, spread = scores.mean(), scores.std().clamp(min=1e-12)
    x = torch.stack([(scores - centre) / spread, torch.ones_like(scores)], dim=1)
    weight = torch.where(trials.same, 0.5 / same.sum(), 0.5 / (1 - same).sum())
    ridge = 1e-4 * torch.eye(2, dtype=torch.double)
    curve = torch.zeros(2, dtype=torch.double)
    for _ in range(steps):
        probability = (x @ curve).sigmoid()
        gradient = x.T @ (weight * (probability - same)) + ridge @ curve
        curvature = (x.T * (weight * probability * (1 - probability))) @ x + ridge
        move = torch.linalg.solve(curvature, gradient)
        curve = curve - move / max(
            1.0, float(move.norm())
        )  # no step longer than one: Newton alone can overshoot
        if move.norm() < 1e-10:
            break
    slope = float(curve[0] / spread)
    return slope, float(curve[1] - slope * centre)


def allowed_false_accepts(point: str) -> float | None:
    """The rate of false accepts an operating point allows, None for ``"eer"``; any other text is refused."""
    if point == "eer":
        return None
    name, _, value = point.partition("=")
    try:
        rate = float(value)
    except ValueError:
        rate = math.nan
    if name != "far" or not 0 <= rate <= 1:
        raise SettingError(
            f'expected an operating point "eer" or "far=0.01" (a rate from 0 to 1), got "{point}"'
        )
    return rate


def _threshold(trials: Trials, point: str) -> float:
    rate = allowed_false_accepts(point)
    if rate is None:
        return equal_error_rate(trials.scores, trials.same).threshold
    return threshold_at(trials.scores, trials.same, false_accepts=rate)
