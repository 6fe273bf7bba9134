"""Conditional softmax: at every node of the tree of classes, a softmax over the kinds below it.

Redmon and Farhadi, "YOLO9000: Better, Faster, Stronger", CVPR 2017.
"""

import torch
from torch import Tensor

from samekind.losses.inputs import as_numbers, check
from samekind.losses.lineage import Lineage, check_lineage
from samekind.losses.row_blocks import mean_over_positives


def conditional_softmax(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 1.0,
    lineage: Lineage | None = None,
) -> Tensor:
    """-ln of the probability of the true class, which is the product of p(node | its parent) along its path:
    a softmax of scale x score over the node and its siblings. The candidates are the classes.

    The score of a node is the mean of those of the classes under it. For inner products that is the score of
    the mean of their proxies, and as general as a proxy for each node: only differences between siblings
    count, and any can be had. `log_probabilities` has the probabilities of all classes; those of
    `MetricSpace.classify` are a plain softmax of the same scores.

    A class at an inner node is one more kind under that node, beside those below it. A candidate in neither
    mask does not count. An anchor with no positive or no negative costs 0.
    """
    check(scores, positive, negative)
    tree = check_lineage(lineage, scores)
    logits = scale * scores.to(torch.promote_types(scores.dtype, torch.float32)).where(positive | negative, 0)

    def cost(score: Tensor, behind: Tensor, own: Tensor) -> Tensor:
        counted = behind.scatter(1, own, value=True)
        logs = _of_classes(_of_nodes(score, counted, tree), tree)
        return -logs.gather(1, own).squeeze(1).clamp(max=0)  # rounding can leave it just above

    return mean_over_positives(cost, logits, positive, negative).to(scores.dtype)


def log_probabilities(logits: Tensor, lineage: Lineage) -> Tensor:
    """ln p of every class, from scale x score: (n, classes) -> (n, classes). Rows of p sum to 1."""
    tree = check_lineage(lineage, logits)
    everyone = torch.ones_like(logits, dtype=torch.bool)
    return _of_classes(_of_nodes(logits, everyone, tree), tree)


def _of_nodes(score: Tensor, counted: Tensor, tree: Lineage) -> Tensor:
    """ln p(node | its parent): (n, nodes), 0 for the root and for a node without a counted class."""
    members = as_numbers(tree.members, score).T
    counts = as_numbers(counted, score) @ members
    there = counts > 0
    means = (score @ members / counts.clamp(min=1)).masked_fill(~there, -torch.inf)
    parents = tree.parents.expand_as(means)[:, 1:]
    siblings, shape = means[:, 1:], means.shape
    # Subtracting the largest of the siblings changes nothing but the size of the powers.
    largest = means.new_full(shape, -torch.inf).scatter_reduce(1, parents, siblings.detach(), "amax")
    largest = largest.masked_fill(largest == -torch.inf, 0).gather(1, parents)
    powers = (siblings - largest).exp()
    sums = means.new_zeros(shape).scatter_add(1, parents, powers).gather(1, parents)
    logs = siblings.where(there[:, 1:], 0) - largest - sums.where(there[:, 1:], 1).log()
    return torch.cat([means.new_zeros(len(means), 1), logs.where(there[:, 1:], 0)], dim=1)


def _of_classes(logs: Tensor, tree: Lineage) -> Tensor:
    """The sum along the path of each class."""
    return logs @ as_numbers(tree.members, logs)
