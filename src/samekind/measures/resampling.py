"""Trials counted so that resampling their classes is a matrix product.

Trials share classes, so they are not independent: what varies from one test to the next is which classes
were in it. A replicate draws as many classes as there are, with replacement; a class drawn w times gives
its same-class trials weight w, and a trial of two classes gets the product of their weights.

The trials are sorted once. Counted by threshold and by pair of classes, all replicates together are one
sparse product.

Owen, "The Pigeonhole Bootstrap", Annals of Applied Statistics 2007.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

#: From one threshold to the next that is looked at, the logarithms of the two error counts move by this
#: much in all: less than any interval would show, and a few thousand thresholds cover millions of trials.
STEP = 0.005
#: Weights of pairs of classes in memory at a time.
MOST_WEIGHTS = 8_000_000


class Counted(NamedTuple):
    """Trials by threshold, the strictest first, and by class or pair of classes."""

    same: Any  # sparse (thresholds, classes): same-class trials between this threshold and the one before
    different: Any  # sparse (thresholds, pairs)
    left: Whole  # (pairs,) the two classes of a pair
    right: Whole
    accepting: int  # the number of thresholds at or above the given one
    same_surprise: Numbers  # (classes,) bits of surprise, scores read as log likelihood ratios
    different_surprise: Numbers  # (pairs,)


class Curves(NamedTuple):
    """Both error rates at every threshold of some replicates, (thresholds, replicates), and more."""

    false_accepts: Numbers
    false_rejects: Numbers
    accepting: int
    same_weight: Numbers  # (replicates,)
    different_weight: Numbers
    surprise: Numbers  # (replicates,) the cost of the log likelihood ratio
    one_accepted: Numbers  # (replicates,) the rates if a single trial of all had gone wrong
    one_rejected: Numbers


def count_trials(
    scores: Tensor,
    same: Tensor,
    sides: Tensor,
    *,
    classes: int,
    threshold: float | None,
    shares: tuple[float, float] = (1.0, 1.0),
) -> Counted:
    """Count checked trials; ``sides`` is (2, trials), the indices of the two classes of each.

    ``shares`` says what part of the same-class and of the other trials these are, if not all.
    """
    # Imported here because it is slow, and most users of the room never need it.
    from scipy.sparse import coo_array

    order = scores.argsort(descending=True, stable=True)
    scores, same, sides = scores[order], same[order], sides[:, order]
    ends, accepting = _thresholds(scores, same, threshold)
    row = np.searchsorted(ends, np.arange(len(scores)))
    is_same, (lower, upper) = same.numpy(), sides.sort(0).values.numpy()
    keys, pair = np.unique(lower[~is_same] * classes + upper[~is_same], return_inverse=True)

    def by_threshold(rows: Whole, columns: Whole, width: int, share: float) -> Any:
        ones = np.full(len(rows), 1 / share)
        return coo_array((ones, (rows, columns)), shape=(len(ends), width)).tocsr()

    surprise = torch.nn.functional.softplus(torch.where(same, -scores, scores).double())
    bits = surprise.numpy() / math.log(2)
    return Counted(
        same=by_threshold(row[is_same], lower[is_same], classes, shares[0]),
        different=by_threshold(row[~is_same], pair, len(keys), shares[1]),
        left=keys // classes,
        right=keys % classes,
        accepting=accepting,
        same_surprise=np.bincount(lower[is_same], bits[is_same], minlength=classes) / shares[0],
        different_surprise=np.bincount(pair, bits[~is_same], minlength=len(keys)) / shares[1],
    )


def _thresholds(scores: Tensor, same: Tensor, threshold: float | None) -> tuple[Whole, int]:
    """The index of the last trial that each threshold accepts, and the number of thresholds at or above
    ``threshold``."""
    last_of_tie = torch.cat([scores[1:] != scores[:-1], torch.ones_like(same[:1])])
    ends = last_of_tie.nonzero().flatten()
    accepted = (~same).cumsum(0)[ends].double()
    missed = same.sum() - same.cumsum(0)[ends]
    # Rises with every trial; equal steps of it change neither count by more than a per cent, or one.
    place = ((accepted.log1p() - missed.double().log1p()) / STEP).floor()
    is_threshold = torch.cat([place[1:] != place[:-1], torch.ones_like(same[:1])])
    beyond = 0
    if threshold is not None:
        beyond = int((scores >= threshold).sum())
        is_threshold |= ends == beyond - 1
    thresholds = ends[is_threshold]
    return thresholds.numpy(), int((thresholds < beyond).sum())


def class_weights(classes: int, replicates: int, seed: int) -> Numbers:
    """How often each class is drawn in each replicate: (replicates, classes), rows sum to ``classes``."""
    generator = torch.Generator().manual_seed(seed)
    draws = torch.randint(classes, (replicates, classes), generator=generator)
    weights = torch.zeros(replicates, classes, dtype=torch.float64)
    weights.scatter_add_(1, draws, torch.ones_like(draws, dtype=torch.float64))
    return weights.numpy()


def curves(systems: Sequence[Counted], weights: Numbers) -> Iterator[list[Curves]]:
    """The curves of each system in the replicates, a few at a time. All systems have the same weights
    (replicates, classes).

    Replicates without trials of both kinds (such as those with a single class) are left out.
    """
    pairs = max(len(trials.left) for trials in systems)
    step = max(1, MOST_WEIGHTS // max(pairs, systems[0].same.shape[0]))
    for top in range(0, len(weights), step):
        batch = weights[top : top + step].T
        usable = np.ones(batch.shape[1], dtype=bool)
        for trials in systems:
            same, different = _totals(trials, batch)
            usable &= (same > 0) & (different > 0)
        if usable.any():
            yield [_curves(trials, np.ascontiguousarray(batch[:, usable])) for trials in systems]


def _totals(trials: Counted, weights: Numbers) -> tuple[Numbers, Numbers]:
    of_pairs = trials.different.sum(0)
    in_pairs = of_pairs @ (weights[trials.left] * weights[trials.right])
    return trials.same.sum(0) @ weights, in_pairs


def _curves(trials: Counted, weights: Numbers) -> Curves:
    of_pairs = weights[trials.left] * weights[trials.right]
    targets = (trials.same @ weights).cumsum(0)
    impostors = (trials.different @ of_pairs).cumsum(0)
    of_class, of_pair = _rarest(trials.same), _rarest(trials.different)
    # Whole numbers all along, so that the last entries are exact.
    return Curves(
        false_accepts=impostors / impostors[-1],
        false_rejects=(targets[-1] - targets) / targets[-1],
        accepting=trials.accepting,
        same_weight=targets[-1],
        different_weight=impostors[-1],
        surprise=(
            trials.same_surprise @ weights / targets[-1]
            + trials.different_surprise @ of_pairs / impostors[-1]
        )
        / 2,
        one_accepted=of_pairs[of_pair] / impostors[-1],
        one_rejected=weights[of_class] / targets[-1],
    )


def _rarest(counts: Any) -> int:
    """The class or pair with the fewest trials of those that have any.

    The rate of a single error varies most there, because the weight of a class with many trials is also in
    the total.
    """
    of_each = counts.sum(0)
    return int(np.where(of_each > 0, of_each, np.inf).argmin())
