"""Contrastive losses: a pair of one class is drawn together, a pair of two classes pushed apart.

Hadsell et al., "Dimensionality Reduction by Learning an Invariant Mapping", CVPR 2006; the exponential form
is of Chopra et al., "Learning a Similarity Metric Discriminatively, with Application to Face Verification",
CVPR 2005. Distances are negative scores: use the similarity Euclidean.

Unlike in `triplet`, no pair is compared with another: positives go to distance 0 and negatives to an
absolute distance.
"""

import math
from typing import Any, Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import as_numbers, check
from samekind.losses.row_blocks import row_by_row
from samekind.similarities.transforms import transforming


def contrastive(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    margin: float = 1.0,
    weighting: Literal["pairs", "kinds"] = "pairs",
) -> Tensor:
    """½ d² for a positive pair, ½ [margin - d]² for a negative one nearer than the margin, with d = -score.

    The value is the mean over all pairs of the batch. ``weighting="kinds"`` takes the mean over positives
    plus that over negatives instead, so that many negatives do not drown the positives. The share of an
    anchor is what its pairs add, times the number of anchors. A score above 0, which no distance gives,
    counts as distance 0.
    """
    if not margin >= 0:
        raise SettingError(f"the margin is a distance, 0 or more; got {margin}")
    check(scores, positive, negative)
    pull, push = _weights(scores, positive, negative, weighting)

    def cost(score: Tensor, pulled: Tensor, pushed: Tensor) -> Tensor:
        if transforming():
            near = push.sqrt() * (score.where(pushed, -torch.inf) + margin).clamp(0, margin)
            return 0.5 * (near + pull.sqrt() * score.where(pulled, 0).clamp(max=0)).square().sum(1)
        costs: Tensor = _HalfSquares.apply(score, pulled, pushed, margin, pull.sqrt(), push.sqrt())  # type: ignore[no-untyped-call]
        return costs

    return row_by_row(cost, (scores, None), (positive, None), (negative, None)).to(scores.dtype)


class _HalfSquares(torch.autograd.Function):
    """Half the weighted squares of each pair's error; the error is nearly the gradient, too."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, pulled: Tensor, pushed: Tensor, margin: float, pull: Tensor, push: Tensor
    ) -> Tensor:
        off = _errors(scores, pulled, pushed, margin, pull, push)
        ctx.save_for_backward(scores, off, pulled, pushed, pull, push)
        ctx.margin = margin
        squares: Tensor = torch.linalg.vecdot(off, off)
        return squares.mul_(0.5)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        scores, off, pulled, pushed, pull, push = ctx.saved_tensors
        if torch.is_grad_enabled():  # the errors again, so that they can be differentiated
            off = _errors(scores, pulled, pushed, ctx.margin, pull, push)
        weights = torch.where(pulled, pull, push) if pull != push else pull
        gradient = (off * weights).mul_(grad[:, None]).mul_(as_numbers(scores <= 0, scores))
        return gradient, None, None, None, None, None


def _errors(
    scores: Tensor, pulled: Tensor, pushed: Tensor, margin: float, pull: Tensor, push: Tensor
) -> Tensor:
    """The error of each pair times the root of its weight; 0 for a pair that does not count."""
    # In place where possible: a new matrix of this size costs as much as the arithmetic.
    near = scores.where(pushed, -torch.inf).add_(margin).clamp_(0, margin).mul_(push)
    return near.add_(scores.where(pulled, 0).clamp_(max=0).mul_(pull))


def exponential_contrastive(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    bound: float = 2.0,
    weighting: Literal["pairs", "kinds"] = "pairs",
) -> Tensor:
    """(2 / Q) d² for a positive pair, 2 Q exp(-2.77 d / Q) for a negative one, with d = -score.

    Q is ``bound``, the largest distance there can be: 2 between embeddings on the sphere. Like
    `contrastive`, but a negative is pushed at any distance, ever more weakly: at the bound it still costs
    6% of what it costs at 0. Weighting and scores above 0 as there.
    """
    if not (bound > 0 and math.isfinite(bound)):
        raise SettingError(f"the bound of distances must be a positive number, got {bound}")
    check(scores, positive, negative)
    pull, push = _weights(scores, positive, negative, weighting)

    def cost(score: Tensor, pulled: Tensor, pushed: Tensor) -> Tensor:
        repelled = (torch.where(pushed, score, -torch.inf).clamp(max=0) * (2.77 / bound)).exp().sum(1)
        return (2 / bound) * pull * _squared_distances(score, pulled) + (2 * bound) * push * repelled

    return row_by_row(cost, (scores, None), (positive, None), (negative, None)).to(scores.dtype)


def check_weighting(weighting: str) -> None:
    """Raise SettingError for a weighting of pairs that is not a choice."""
    if weighting not in ("pairs", "kinds"):
        raise SettingError(f'the weighting is "pairs" or "kinds"; got "{weighting}"')


def _weights(scores: Tensor, positive: Tensor, negative: Tensor, weighting: str) -> tuple[Tensor, Tensor]:
    """The weights of a positive and of a negative pair in the share of their anchor."""
    check_weighting(weighting)
    positives, negatives = positive.count_nonzero(), negative.count_nonzero()
    if weighting == "pairs":
        positives = negatives = positives + negatives
    exact = torch.promote_types(scores.dtype, torch.get_default_dtype())
    return len(positive) / positives.clamp(min=1).to(exact), len(positive) / negatives.clamp(min=1).to(exact)


def _squared_distances(scores: Tensor, counted: Tensor) -> Tensor:
    """The sum of d² over the counted pairs of each row; they are few, so they are picked out, not masked."""
    rows, columns = counted.nonzero(as_tuple=True)
    squares = scores[rows, columns].clamp(max=0).square()
    return squares.new_zeros(len(scores)).index_add(0, rows, squares)
