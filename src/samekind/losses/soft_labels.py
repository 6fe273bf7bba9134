"""Soft labels: a target that gives near classes more than far ones.

Bertinetto et al., "Making Better Mistakes: Leveraging Class Hierarchies with Deep Networks", CVPR 2020.
"""

import torch
from torch import Tensor

from samekind.losses.inputs import check, check_positive
from samekind.losses.row_blocks import mean_over_positives
from samekind.losses.soft_maximum import soft_maximum


def soft_labels(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 1.0,
    distances: Tensor | None = None,
    beta: float = 1.0,
    relative: bool = False,
) -> Tensor:
    """The cross-entropy of softmax(scale x score) to a target of exp(-beta x distance to the true class) for
    each class, divided by its sum; the candidates are the classes.

    ``distances`` (candidates, candidates) are those of the classes in their tree. With ``relative`` they are
    divided by the largest, as in the authors' code. The larger beta, the more is left to the true class; at
    last it is `softmax`. The authors' code divides the loss by the number of classes, and has the divergence
    from the target, which is less by the target's entropy.

    A class at an inner node is at the distance of the edges to it. A candidate in neither mask does not
    count, and the others share its part. An anchor with no positive or no negative costs 0.
    """
    check(scores, positive, negative)
    check_positive("beta", beta)
    if distances is None or distances.shape != (scores.shape[1], scores.shape[1]):
        got = None if distances is None else tuple(distances.shape)
        raise ValueError(f"expected distances {(scores.shape[1],) * 2} of the candidates, got {got}")
    logits = scale * scores.to(torch.promote_types(scores.dtype, torch.float32)).where(positive | negative, 0)
    powers = -beta * distances.to(logits)
    if relative:
        powers = powers / distances.max().to(logits) if distances.any() else powers

    def cost(score: Tensor, behind: Tensor, own: Tensor, power: Tensor) -> Tensor:
        counted = behind.scatter(1, own, value=True)
        target = power.masked_fill(~counted, -torch.inf).softmax(1)
        return (soft_maximum(score, counted) - (target * score).sum(1)).clamp(min=0)

    return mean_over_positives(cost, logits, positive, negative, of_positives=[powers]).to(scores.dtype)


def soft_targets(distances: Tensor, *, beta: float = 1.0) -> Tensor:
    """The targets of `soft_labels`, one row for each class: (classes, classes) -> (classes, classes).

    >>> soft_targets(torch.tensor([[0.0, 2.0, 4.0]]))
    tensor([[0.8668, 0.1173, 0.0159]])
    """
    return (-beta * distances).softmax(1)
