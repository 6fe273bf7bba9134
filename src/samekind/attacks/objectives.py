"""The objectives that a gradient attack maximises: outcomes (n, outcomes) and the right one (n,) to a number
per item (n,).

All take logits, never probabilities: the gradient of a cross-entropy of probabilities vanishes where the
model is certain, and the model then looks more robust than it is.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

Objective = Callable[[Tensor, Tensor], Tensor]


def cross_entropy(outcomes: Tensor, truth: Tensor) -> Tensor:
    """The negative log-probability of the truth; with one outcome, that outcome itself."""
    if outcomes.shape[1] == 1:
        return outcomes[:, 0]
    return F.cross_entropy(outcomes, truth, reduction="none")


def margin(outcomes: Tensor, truth: Tensor) -> Tensor:
    """The best other outcome minus the truth: above 0 where the truth has lost; with one outcome, itself."""
    if outcomes.shape[1] == 1:
        return outcomes[:, 0]
    right = outcomes.gather(1, truth[:, None])[:, 0]
    return outcomes.scatter(1, truth[:, None], -torch.inf).amax(1) - right


def logit_ratio(outcomes: Tensor, truth: Tensor) -> Tensor:
    """The margin divided by the largest outcome minus the third largest (Croce and Hein 2020, "DLR").

    Neither a shift nor a scale of the logits changes it. With fewer than three outcomes it is the margin.
    """
    if outcomes.shape[1] < 3:
        return margin(outcomes, truth)
    largest = outcomes.topk(3, dim=1).values
    return margin(outcomes, truth) / (largest[:, 0] - largest[:, 2] + 1e-12)
