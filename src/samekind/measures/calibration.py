"""Calibration: from a score to a log likelihood ratio or a probability.

The natural log likelihood ratio of a score is ln p(score | same) - ln p(score | different). With the prior
odds of "same" it makes a probability: sigmoid(ratio + ln(prior / (1 - prior))).

Platt, "Probabilistic Outputs for Support Vector Machines", 1999; Zadrozny and Elkan, "Transforming Classifier
Scores into Accurate Multiclass Probability Estimates", KDD 2002; Brümmer and du Preez,
"Application-Independent Evaluation of Speaker Detection", Computer Speech and Language 2006.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.logistic import logistic_line
from samekind.measures.pooling import pool_adjacent_violators
from samekind.measures.sorted_trials import Levels, checked, sort_trials


def logistic_calibration(scores: Tensor, same: Tensor, *, prior: float = 0.5) -> tuple[float, float]:
    """Slope and offset of the line from score to log likelihood ratio: ratio = slope x score + offset.

    ``prior`` is the share of "same" trials that the line is best for. It weights the two kinds of trial,
    however many of each there are. At even odds sigmoid(slope x score + offset) is the probability. Separated
    trials give a steep, finite line. Uninformative scores give the ratio 0, reversed scores a falling line.

    >>> scores, same = torch.tensor([3, 2, 2, 1]), torch.tensor([True, True, False, False])
    >>> slope, offset = logistic_calibration(scores, same)
    >>> slope > 0, abs(2 * slope + offset) < 1e-9  # half way, both are equally likely
    (True, True)
    """
    scores, same = checked(scores, same)
    [slope], offset = logistic_line(scores[:, None], same, prior=prior)
    return slope, offset


class IsotonicCalibration(NamedTuple):
    """A rising curve from score to log likelihood ratio, straight between its knots and flat beyond them.

    Both fields are plain numbers, so JSON can hold them; lists do as well as tuples.
    """

    knots: Sequence[float]
    log_likelihood_ratios: Sequence[float]

    def log_likelihood_ratio(self, scores: Tensor) -> Tensor:
        """The natural log likelihood ratio of each score, in float64, for any shape."""
        knots, ratios = (torch.tensor(values, dtype=torch.double, device=scores.device) for values in self)
        inside = scores.detach().double().clamp(knots[0], knots[-1])
        upper = torch.searchsorted(knots, inside.contiguous()).clamp(min=1).clamp(max=len(knots) - 1)
        lower = (upper - 1).clamp(min=0)
        reach = (knots[upper] - knots[lower]).where(upper > lower, 1.0)
        return torch.lerp(ratios[lower], ratios[upper], (inside - knots[lower]) / reach)

    def probability(self, scores: Tensor, *, prior: float = 0.5) -> Tensor:
        """The probability of "same" where its share beforehand is ``prior``."""
        if not 0 < prior < 1:
            raise ValueError(f"expected a prior between 0 and 1, got {prior}")
        return (self.log_likelihood_ratio(scores) + math.log(prior / (1 - prior))).sigmoid()


def isotonic_calibration(scores: Tensor, same: Tensor) -> IsotonicCalibration:
    """The rising curve, of any form, that fits the trials best. It needs more trials than a line does.

    One artificial trial of each kind is added below all scores and one above. Without them the ratio of the
    highest and the lowest scores would often be infinite. The best curve is the same for every prior.

    >>> curve = isotonic_calibration(torch.tensor([4, 3, 2, 1]), torch.tensor([True, False, True, False]))
    >>> curve.knots
    (1.0, 2.0, 3.0, 4.0)
    >>> [round(each, 3) for each in curve.log_likelihood_ratios]
    [-0.693, 0.0, 0.0, 0.693]
    """
    levels = sort_trials(scores, same).levels()
    # The artificial trials are at minus and plus infinity.
    end = levels.scores.new_full((1,), math.inf)
    artificial = torch.ones_like(levels.targets[:1])
    pooled = pool_adjacent_violators(
        Levels(
            torch.cat([-end, levels.scores, end]),
            torch.cat([artificial, levels.targets, artificial]),
            torch.cat([artificial, levels.impostors, artificial]),
        )
    )
    targets, impostors = pooled.targets.double(), pooled.impostors.double()
    ratios = (targets / targets.sum()).log() - (impostors / impostors.sum()).log()
    # A block begins at its lowest score and ends at the highest below the next block.
    block = torch.searchsorted(pooled.scores, levels.scores, right=True) - 1
    turn = torch.ones_like(block, dtype=torch.bool)
    turn[1:-1] = (block[1:-1] != block[:-2]) | (block[1:-1] != block[2:])
    return IsotonicCalibration(
        tuple(levels.scores[turn].double().tolist()), tuple(ratios[block[turn]].tolist())
    )
