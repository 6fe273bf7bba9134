"""Pair likelihood: the score of a pair is the logit of its being of one kind.

Monteiro et al., "An end-to-end approach for the verification problem", ICML 2020. At its optimum the score
is the log likelihood ratio of "same" against "different".
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check


def pair_likelihood(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    smoothing: float = 0.0,
    weighting: Literal["pairs", "triplets"] = "pairs",
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mean negative log-likelihood of all positive pairs, plus that of all negative pairs.

    The share of an anchor is what its pairs add, over the totals of the batch, times the number of anchors.
    A kind of pair that is missing adds 0. ``smoothing`` q draws the target of each positive from U(1 - q,
    1) and of each negative from U(0, q). ``weighting="triplets"`` counts a pair as often as it appears
    among all triplets (anchor, later positive, negative), as the authors' code does; it reads the batch
    against itself.
    """
    check(scores, positive, negative)
    if weighting not in ("pairs", "triplets"):
        raise SettingError(f'the weighting is "pairs" or "triplets"; got "{weighting}"')
    weights = _triplet_counts(positive, negative) if weighting == "triplets" else (positive, negative)
    costs = F.softplus(-scores), F.softplus(scores)  # of a positive, of a negative
    if smoothing:
        drawn = smoothing * _uniform(scores, generator)
        costs = costs[0] + drawn * scores, costs[1] - drawn * scores
    means = [
        (cost * weight.to(cost.dtype)).sum(1) / weight.sum().clamp(min=1)
        for cost, weight in zip(costs, weights, strict=True)
    ]
    return len(scores) * (means[0] + means[1])


def _triplet_counts(positive: Tensor, negative: Tensor) -> tuple[Tensor, Tensor]:
    """How many triplets (anchor, positive after it, negative) hold each positive and each negative pair."""
    later = positive.triu(1)
    return later * negative.sum(1, keepdim=True), negative * later.sum(1, keepdim=True)


def _uniform(scores: Tensor, generator: torch.Generator | None) -> Tensor:
    """U(0, 1) for each score; drawn on the generator's device, so that a CPU seed gives the same on any
    device.
    """
    device = generator.device if generator is not None else scores.device
    return torch.rand(scores.shape, generator=generator, device=device, dtype=scores.dtype).to(scores.device)
