"""Hierarchical cross-entropy: a softmax over the classes, read level by level of their tree.

Bertinetto et al., "Making Better Mistakes: Leveraging Class Hierarchies with Deep Networks", CVPR 2020.
"""

from functools import partial
from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check
from samekind.losses.lineage import Lineage, check_lineage
from samekind.losses.row_blocks import mean_over_positives
from samekind.losses.soft_maximum import soft_maximum


def hxe(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 1.0,
    lineage: Lineage | None = None,
    alpha: float = 0.1,
    weighting: Literal["depth", "height"] = "depth",
    normalise: bool = False,
) -> Tensor:
    """-Σ weight x ln p(node | its parent) over the nodes from the true class up to the root, the candidates
    being the classes.

    p(node) is the sum of softmax(scale x score) over the classes under it, so that without weights
    (``alpha`` 0) the product of all is the class's own probability, and the loss is `softmax`. The weight of
    a node is exp(-alpha x its depth), as in the authors' code: coarse kinds count more. With
    ``weighting="height"`` it is exp(-alpha x its height), as in print: fine ones do. ``normalise`` divides
    the weights by their sum over the nodes of the tree, the root left out.

    A class at an inner node is one more kind under that node, beside those below it. A candidate in neither
    mask does not count. An anchor with no positive or no negative costs 0.
    """
    check(scores, positive, negative)
    lineage = check_lineage(lineage, scores)
    if weighting not in ("depth", "height"):
        raise SettingError(f'the weighting is "depth" or "height"; got "{weighting}"')
    if not alpha >= 0:
        raise SettingError(f"alpha is a number from 0 up; got {alpha}")
    logits = scale * scores.to(torch.promote_types(scores.dtype, torch.float32)).where(positive | negative, 0)
    levels = lineage.depths if weighting == "depth" else lineage.heights
    weights = (-alpha * levels.to(logits.dtype)).exp()
    if normalise:
        weights = weights / weights[1:].sum()

    cost = partial(_cost, weights=weights, members=lineage.members)
    return mean_over_positives(cost, logits, positive, negative, of_positives=[lineage.chains]).to(
        scores.dtype
    )


def _cost(
    score: Tensor, behind: Tensor, own: Tensor, chains: Tensor, *, weights: Tensor, members: Tensor
) -> Tensor:
    """The loss of each anchor and positive, summed along the chain of nodes from the class to the root."""
    counted = behind.scatter(1, own, value=True)
    inside, total = score.gather(1, own).squeeze(1), score.new_zeros(len(score))
    for level in range(chains.shape[1] - 1):
        node, parent = chains[:, level], chains[:, level + 1]
        around = soft_maximum(score, counted & members[parent])
        # Where the chain has come to the root, both are the same.
        total = total + weights[node].to(score.dtype) * (around - inside)
        inside = around
    return total.clamp(min=0)
