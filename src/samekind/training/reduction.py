"""The shares of a term to its cost: what the step takes the mean of."""

import torch
from torch import Tensor

from samekind.training.context import BuiltTerm


def reduced(shares: Tensor, built: BuiltTerm, *, rows: Tensor | None, labels: Tensor) -> Tensor:
    """The cost of a term from the shares (rows,) of its loss, as its ``reduce`` and ``class_weights`` say.

    ``rows`` (rows,) are the anchors of mined rows, None where a row is an anchor; ``labels`` (anchors,) the
    classes of the anchors. The mean of the shares that are not 0 is 0 where all are.
    """
    how, weights = built.term.reduce, built.class_weights
    if weights is None and how == "mean":
        return shares.mean()
    anchors = torch.arange(len(labels), device=labels.device) if rows is None else rows
    classes = labels[anchors]
    if weights is not None:
        shares = shares * weights.to(shares, non_blocking=True)[classes]
    match how:
        case "nonzero":
            return shares.sum() / (shares != 0).sum().clamp(min=1)
        case "anchors":
            return _mean_of_means(shares, anchors)
        case "classes":
            return _mean_of_means(shares, classes)
    return shares.mean()


def _mean_of_means(shares: Tensor, groups: Tensor) -> Tensor:
    """The mean, over groups, of the mean share of each; ``groups`` (rows,) says which a row is in."""
    sizes = groups.bincount()
    return (shares / sizes[groups]).sum() / (sizes > 0).sum()
