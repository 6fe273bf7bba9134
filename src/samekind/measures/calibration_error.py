"""Calibration error: whether a classifier is right as often as it says.

An item's confidence is its highest probability. Items are put into equal bins of confidence; in each, the
share of right answers is compared with the mean confidence. ``probabilities`` are (n, classes), ``truth``
is (n,).

Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
"""

import torch
from torch import Tensor

from samekind.measures.classification import check_class_scores, check_probabilities


def expected_calibration_error(probabilities: Tensor, truth: Tensor, *, bins: int = 15) -> float:
    """The mean difference between confidence and accuracy. Bins weigh as many as their items; 0 is best.

    A classifier that is always certain and never right has an error of 1.

    >>> probabilities = torch.tensor([[0.75, 0.25], [0.75, 0.25], [0.75, 0.25], [0.75, 0.25]])
    >>> expected_calibration_error(probabilities, torch.tensor([0, 0, 0, 1]))
    0.0
    """
    gaps, items = _gaps(probabilities, truth, bins)
    return float((gaps * items).sum() / items.sum())


def maximum_calibration_error(probabilities: Tensor, truth: Tensor, *, bins: int = 15) -> float:
    """The largest difference between confidence and accuracy of any bin that has items.

    A bin with few items can decide the result, so look at their number.

    >>> probabilities = torch.tensor([[0.75, 0.25], [0.0, 1.0]])
    >>> maximum_calibration_error(probabilities, torch.tensor([0, 1]))
    0.25
    """
    gaps, _ = _gaps(probabilities, truth, bins)
    return float(gaps.max())


def _gaps(probabilities: Tensor, truth: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    """|accuracy - confidence| of each bin (0 if empty) and its number of items: both float64 (bins,)."""
    truth = check_class_scores(probabilities, truth, name="probabilities")
    check_probabilities(probabilities)
    if bins < 1:
        raise ValueError(f"expected at least one bin, got {bins}")
    confidence, predicted = probabilities.detach().double().max(1)
    # A bin holds its upper edge, as in the paper.
    bin_ = ((confidence * bins).ceil().long() - 1).clamp(0, bins - 1)
    empty = torch.zeros(bins, dtype=torch.double, device=truth.device)
    items = empty.index_add(0, bin_, torch.ones_like(confidence))
    difference = empty.index_add(0, bin_, (predicted == truth).double() - confidence)
    return difference.abs() / items.clamp(min=1), items
