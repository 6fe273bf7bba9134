"""Scores of all pairs, and what they say: errors, costs, calibration."""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.inference import all_trials
from samekind.measures import (
    equal_error_rate,
    log_likelihood_ratio_cost,
    logistic_calibration,
    minimum_detection_cost,
)
from samekind.similarities.two_covariance import TwoCovariance
from samekind.space import MetricSpace

#: Directions of the linear discriminant analysis that are tried on validation speakers.
RANKS = (10, 20, 30, 39)
#: The priors of the least detection cost.
PRIORS = (0.01, 0.001)
Trials = tuple[Tensor, Tensor]


def scores_by(space: MetricSpace, z: Tensor, labels: Tensor, by: TwoCovariance | str) -> Trials:
    """Scores of all unordered pairs, by a kind of score of the space or by a model, and which are of one
    speaker.
    """
    if isinstance(by, TwoCovariance):
        rows, columns = torch.triu_indices(len(z), len(z), 1)
        return by.score_all(z, z)[rows, columns], labels[rows] == labels[columns]
    trials = all_trials(space, z.to(next(space.parameters()).device), labels, kind=by)  # type: ignore[arg-type]
    return trials.scores, trials.same


def chosen_plda(
    z: Tensor, items: Items, held_out: Tensor, others: Items, *, ranks: tuple[int, ...] = RANKS
) -> TwoCovariance:
    """PLDA as in Kaldi's recipes: centred, LDA, length normalisation, ten steps of expectation maximisation.
    The rank of the LDA has the lowest equal error on validation speakers.
    """
    models = [
        TwoCovariance(
            dimension=z.shape[1], rank=rank, shrinkage=0.0, normalise=True, method="likelihood"
        ).fit(z, items.labels)
        for rank in ranks
        if rank < min(len(items.classes), z.shape[1])
    ]
    rows, columns = torch.triu_indices(len(held_out), len(held_out), 1)
    same = others.labels[rows] == others.labels[columns]
    return min(
        models,
        key=lambda model: equal_error_rate(model.score_all(held_out, held_out)[rows, columns], same).rate,
    )


def of_trials(scores: Tensor, same: Tensor, *, fitted: Trials) -> dict[str, float]:
    """EER, the least detection costs, and the log likelihood ratio cost of scores that are calibrated by the
    trials of validation speakers.
    """
    slope, offset = logistic_calibration(*fitted)
    costs = {f"minDCF({prior:g})": minimum_detection_cost(scores, same, prior=prior).cost for prior in PRIORS}
    return {
        "EER": equal_error_rate(scores, same).rate,
        **costs,
        "Cllr": log_likelihood_ratio_cost(slope * scores + offset, same),
    }
