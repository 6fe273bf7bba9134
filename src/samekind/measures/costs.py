"""Detection costs: both errors of verification in one number, weighted by what they cost.

A cost is prior x miss cost x false-reject rate + (1 - prior) x false-accept cost x false-accept rate, with
``prior`` the share of trials of one class where the system is used. It is divided by the cost of the better
of the answers "always the same" and "never the same": 1 is useless, 0 is no error.

The log likelihood ratio cost also depends on calibration, not on the order of the scores alone.
Brümmer and du Preez, "Application-Independent Evaluation of Speaker Detection", Computer Speech and Language
2006.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.measures.pooling import pool_adjacent_violators
from samekind.measures.sorted_trials import checked, sort_trials
from samekind.measures.verification import rates_at


class Costs(NamedTuple):
    """The weights of the detection cost: the prior of "same" and the price of each error."""

    prior: float
    miss: float
    false_accept: float

    def check(self) -> None:
        """ValueError unless the prior is between 0 and 1 and both prices are above 0."""
        if not 0 < self.prior < 1:
            raise ValueError(f"expected a prior between 0 and 1, got {self.prior}")
        for name, cost in (("miss_cost", self.miss), ("false_accept_cost", self.false_accept)):
            if not 0 < cost < math.inf:
                raise ValueError(f"expected a {name} above 0, got {cost}")

    @property
    def weights(self) -> tuple[float, float]:
        """The costs of a false-reject rate and a false-accept rate of 1, relative to the better constant
        answer.
        """
        miss, false_accept = self.prior * self.miss, (1 - self.prior) * self.false_accept
        return miss / min(miss, false_accept), false_accept / min(miss, false_accept)

    @property
    def strict(self) -> "Costs":
        """The same prices at a tenth of the prior: false accepts weigh more."""
        return self._replace(prior=self.prior / 10)


class DetectionCost(NamedTuple):
    """A normalised cost and the threshold it is reached at."""

    cost: float
    threshold: float


def minimum_detection_cost(
    scores: Tensor,
    same: Tensor,
    *,
    prior: float = 0.01,
    miss_cost: float = 1.0,
    false_accept_cost: float = 1.0,
) -> DetectionCost:
    """The lowest cost any threshold gives, with the strictest such threshold; often written minDCF.

    It is never above 1, because the thresholds include "accept nothing" (infinity) and "accept everything".
    It is 0 for separated trials.

    >>> scores = torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double)
    >>> minimum_detection_cost(scores, torch.tensor([True] * 3 + [False] * 4), prior=0.01)
    DetectionCost(cost=0.3333333333333333, threshold=0.8)
    """
    costs = Costs(prior, miss_cost, false_accept_cost)
    costs.check()
    miss, false_accept = costs.weights
    trials = sort_trials(scores, same)
    # Between two targets a stricter threshold only rejects impostors: the best is a target's score or
    # infinity.
    thresholds = torch.unique_consecutive(trials.targets).flip(0)
    targets, impostors = trials.accepted(thresholds)
    missed = (len(trials.targets) - targets).double() / len(trials.targets)
    totals = miss * missed + false_accept * (impostors.double() / len(trials.impostors))
    best = int(totals.argmin())
    if miss <= totals[best]:
        return DetectionCost(miss, math.inf)
    return DetectionCost(float(totals[best]), float(thresholds[best]))


def detection_cost(
    scores: Tensor,
    same: Tensor,
    threshold: float | None = None,
    *,
    prior: float = 0.01,
    miss_cost: float = 1.0,
    false_accept_cost: float = 1.0,
) -> float:
    """The cost at a threshold fixed beforehand, often called actual DCF; it can be above 1.

    Without a threshold the scores are read as natural log likelihood ratios, and `bayes_threshold` gives the
    best threshold for these. The cost then also shows how well the scores are calibrated.

    >>> scores = torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double)
    >>> detection_cost(scores, torch.tensor([True] * 3 + [False] * 4), 0.7, prior=0.5)
    0.5833333333333333
    """
    best = bayes_threshold(prior=prior, miss_cost=miss_cost, false_accept_cost=false_accept_cost)
    miss, false_accept = Costs(prior, miss_cost, false_accept_cost).weights
    false_accepts, false_rejects = rates_at(scores, same, best if threshold is None else threshold)
    return miss * false_rejects + false_accept * false_accepts


def bayes_threshold(*, prior: float = 0.01, miss_cost: float = 1.0, false_accept_cost: float = 1.0) -> float:
    """The natural log likelihood ratio above which accepting costs less than refusing.

    0 for even odds and equal costs; higher where pairs of one class are rare or false accepts expensive.

    >>> bayes_threshold(prior=0.5)
    0.0
    """
    Costs(prior, miss_cost, false_accept_cost).check()
    return math.log((1 - prior) * false_accept_cost) - math.log(prior * miss_cost)


def log_likelihood_ratio_cost(scores: Tensor, same: Tensor) -> float:
    """The cost of scores read as natural log likelihood ratios, over all priors, in bits; often written Cllr.

    It is 1 for uninformative scores of 0, near 0 for confident right scores, and has no upper limit for
    confident wrong scores.

    >>> log_likelihood_ratio_cost(torch.zeros(3), torch.tensor([True, False, False]))
    1.0
    """
    scores, same = checked(scores, same)
    targets, impostors = scores[same].double(), scores[~same].double()
    surprise = F.softplus(-targets).mean() + F.softplus(impostors).mean()
    return float(surprise) / (2 * math.log(2))


def minimum_log_likelihood_ratio_cost(scores: Tensor, same: Tensor) -> float:
    """The lowest `log_likelihood_ratio_cost` that a rising map of the scores can reach; often written
    minCllr.

    This is the cost with perfect calibration; the difference to the actual cost is due to calibration. 0 for
    separated trials, 1 for scores in random or reversed order.

    >>> minimum_log_likelihood_ratio_cost(torch.tensor([3, 2, 1]), torch.tensor([True, True, False]))
    0.0
    """
    pooled = pool_adjacent_violators(sort_trials(scores, same).levels())
    targets, impostors = (counts.double() / counts.sum() for counts in (pooled.targets, pooled.impostors))
    # In a block the best ratio is that of its two shares: a share a against b costs a log((a + b) / a).
    sums = targets + impostors
    surprise = torch.xlogy(targets, sums / targets.where(targets > 0, sums))
    surprise = surprise + torch.xlogy(impostors, sums / impostors.where(impostors > 0, sums))
    # Rounding may lead slightly outside the range.
    return min(float(surprise.sum()) / (2 * math.log(2)), 1.0)
