"""Pair likelihood: the score of a pair is the logit of "same class".

Monteiro et al., "An end-to-end approach for the verification problem", ICML 2020. At its optimum the score
is the log likelihood ratio of "same" against "different".
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import as_numbers, check, check_smoothing
from samekind.losses.row_blocks import row_by_row


def pair_likelihood(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    smoothing: float = 0.0,
    weighting: Literal["pairs", "triplets"] = "pairs",
    total: Literal["sum", "mean"] = "sum",
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mean negative log-likelihood of all positive pairs, plus that of all negative pairs.

    The share of an anchor is what its pairs add, over the totals of the batch, times the number of anchors.
    A missing kind of pair adds 0. ``total="mean"`` is half of the sum of the two means: the authors average
    over as many positives as negatives. Beside another term the pairs then count half as much.

    ``smoothing`` q draws the target of each positive from U(1 - q, 1) and of each negative from U(0, q).
    ``weighting="triplets"`` counts a pair as often as it appears among all triplets (anchor, later positive,
    negative), as the authors' code does; it needs the batch against itself, or against itself and more, in
    the order of the anchors.
    """
    check(scores, positive, negative)
    if weighting not in ("pairs", "triplets"):
        raise SettingError(f'the weighting is "pairs" or "triplets"; got "{weighting}"')
    if total not in ("sum", "mean"):
        raise SettingError(f'the total of the two means is their "sum" or their "mean"; got "{total}"')
    check_smoothing(smoothing)
    if weighting == "triplets" and scores.shape[1] < len(scores):
        raise SettingError(
            f"weighting by triplets needs candidates that begin with the anchors; got {scores.shape[1]} "
            f'candidates for {len(scores)} anchors, set weighting to "pairs"'
        )
    exact = torch.promote_types(scores.dtype, torch.float32)
    pulled, pull, push = _weights(positive, negative, weighting)
    if total == "mean":
        pull, push = pull / 2, push / 2
    tables = [scores, pulled, negative, pull[:, None].to(exact), push[:, None].to(exact)]
    if smoothing:
        tables.append(smoothing * _uniform(scores, generator))
    return row_by_row(_cost, *((table, None) for table in tables)).to(scores.dtype)


def _cost(
    score: Tensor, same: Tensor, different: Tensor, pull: Tensor, push: Tensor, *drawn: Tensor
) -> Tensor:
    # The logit of the wrong answer. Scores that do not count are multiplied by 0, so they must be finite.
    wrong = torch.where(same, -score, score.where(different, 0))
    costs = F.softplus(wrong) - drawn[0] * wrong if drawn else F.softplus(wrong)
    ahead = pull[:, 0] * (costs * as_numbers(same, costs)).sum(1)
    return ahead + push[:, 0] * (costs * as_numbers(different, costs)).sum(1)


def _weights(positive: Tensor, negative: Tensor, weighting: str) -> tuple[Tensor, Tensor, Tensor]:
    """The positives that count, and the weights of one positive and one negative pair of each anchor,
    (anchors,).

    Among all triplets (anchor, positive after it, negative) a positive pair appears once for each negative of
    its anchor, and a negative pair once for each later positive.
    """
    ahead, behind = torch.ones(2, len(positive), dtype=torch.double, device=positive.device)
    if weighting == "triplets":
        positive = positive.triu(1)
        ahead, behind = negative.sum(1).double(), positive.sum(1).double()
    pull = len(positive) * ahead / (ahead * positive.sum(1)).sum().clamp(min=1)
    push = len(positive) * behind / (behind * negative.sum(1)).sum().clamp(min=1)
    return positive, pull, push


def _uniform(scores: Tensor, generator: torch.Generator | None) -> Tensor:
    """U(0, 1) for each score, drawn on the generator's device: a CPU seed gives the same on any device."""
    device = generator.device if generator is not None else scores.device
    drawn = torch.rand(scores.shape, generator=generator, device=device, dtype=scores.dtype)
    return drawn.to(scores.device, non_blocking=scores.is_cuda)
