"""Are these two the same kind? The threshold fitted on trials."""

import torch

from samekind.decisions import Decision, Kind
from samekind.inference.points import operating_point, threshold_for
from samekind.inference.trials import Trials
from samekind.measures import FEWEST_CLASSES, Interval, bootstrap_trials, logistic_calibration, rates_at


def fit_decision(
    trials: Trials, *, kind: Kind, point: str = "eer", description: str, seed: int = 0
) -> Decision:
    """The threshold at an operating point, with the error rates it has on these trials and a calibration.

    ``point`` is ``"eer"``, ``"far=RATE"``, ``"frr=RATE"`` or ``"cost=PRIOR"``: see `operating_point`. The
    intervals of the rates come from a bootstrap over classes; trials of fewer than three classes have none.
    `support` says whether the trials are enough.
    """
    calibration = logistic_calibration(trials.scores, trials.same)
    threshold = threshold_for(operating_point(point), trials.scores, trials.same, calibration)
    accepts, rejects = rates_at(trials.scores, trials.same, threshold)
    same = int(trials.same.sum())
    different = len(trials.same) - same
    classes = count_classes(trials)
    of_accepts, of_rejects = rate_intervals(trials, threshold, seed=seed)
    return Decision(
        kind=kind,
        threshold=threshold,
        point=point,
        trials=f"{description}: {same:,} same, {different:,} different",
        false_accepts=accepts,
        false_rejects=rejects,
        calibration=calibration,
        false_accept_interval=of_accepts and (of_accepts.low, of_accepts.high),
        false_reject_interval=of_rejects and (of_rejects.low, of_rejects.high),
        same_trials=same,
        different_trials=different,
        classes=classes,
    )


def rate_intervals(
    trials: Trials, threshold: float, *, seed: int = 0
) -> tuple[Interval | None, Interval | None]:
    """The false accepts and false rejects at a threshold, with intervals; None for too few classes."""
    if count_classes(trials) < FEWEST_CLASSES:
        return None, None
    rates = bootstrap_trials(*trials, statistics=("FAR", "FRR"), threshold=threshold, seed=seed)
    return rates["FAR"], rates["FRR"]


def count_classes(trials: Trials) -> int:
    """How many classes there are on the two sides of the trials."""
    return len(torch.unique(torch.cat([torch.unique(trials.first), torch.unique(trials.second)])))
