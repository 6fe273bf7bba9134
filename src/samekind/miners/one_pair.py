"""One pair of each class, and as negatives the positives of the other classes' pairs.

Sohn, "Improved Deep Metric Learning with Multi-class N-pair Loss Objective", NeurIPS 2016.
"""

import torch
from torch import Tensor


def one_pair(
    scores: Tensor, positive: Tensor, negative: Tensor, *, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each class that has a pair: an (anchor, positive) drawn uniformly from its pairs.

    The row's negatives are the drawn positives of the other classes; where no other class has a pair there
    are none. Rows are in the order of their anchors. Anchors with the same negatives count as one class, as
    in the masks of `samekind.pairs`.
    """
    anchors, positives = positive.nonzero(as_tuple=True)
    order = torch.randperm(len(anchors), generator=generator).to(scores.device)
    anchors, positives = anchors[order], positives[order]
    _, classes = torch.unique(negative.byte(), dim=0, return_inverse=True)
    # In random order, the first pair of a class is any of them.
    places = torch.arange(len(anchors), device=scores.device)
    nowhere = places.new_full((len(scores),), len(anchors))
    first = nowhere.scatter_reduce(0, classes[anchors], places, "amin")
    first = first[first < len(anchors)]
    first = first[anchors[first].argsort()]
    anchors, positives = anchors[first], positives[first]
    alone = torch.zeros_like(positive[anchors]).scatter_(1, positives[:, None], True)
    return anchors, alone, negative[anchors] & alone.any(0)
