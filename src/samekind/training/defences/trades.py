"""TRADES: the answers to attacked items are to equal those to clean items, right or wrong.

Zhang et al., "Theoretically Principled Trade-off between Robustness and Accuracy", ICML 2019. The attack
raises the same difference of answers. There it begins at a normal draw of deviation 0.001, here at a random
point of the ball.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.training.defences.answers import Both, paired_logits
from samekind.training.tables import Defence

WEIGHT = 6.0


def trades(both: Both, settings: Defence) -> Tensor:
    """The weight times the mean difference of the answers, added over the heads. The gradient goes through
    both answers, as in the authors' code.
    """
    weight = WEIGHT if settings.weight is None else settings.weight
    differences = [divergence(*logits).mean() for logits in paired_logits(both)]
    return weight * torch.stack(differences).sum()


def divergence(clean: Tensor, attacked: Tensor) -> Tensor:
    """KL(P || Q) of the softmax P of clean and Q of attacked logits: (rows, candidates) twice -> (rows,).

    >>> divergence(torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
    tensor([0.])
    """
    return F.kl_div(attacked.log_softmax(1), clean.log_softmax(1), reduction="none", log_target=True).sum(1)
