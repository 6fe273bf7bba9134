"""Adversarial logit pairing: attacked items are to have the logits of clean ones.

Kannan, Kurakin and Goodfellow, "Adversarial Logit Pairing", 2018. Later attacks broke more of it than the
paper measured: judge it by `samekind robustness`, never by the loss.
"""

import torch
from torch import Tensor

from samekind.training.defences.answers import Both, paired_logits
from samekind.training.defences.mixing import mixed
from samekind.training.tables import Defence

WEIGHT = 0.5


def logit_pairing(both: Both, settings: Defence) -> Tensor:
    """`mixed`, and the weight times the mean squared difference of the logits, added over the heads."""
    weight = WEIGHT if settings.weight is None else settings.weight
    apart = [(attacked - clean).square().mean() for clean, attacked in paired_logits(both)]
    return mixed(both, settings) + weight * torch.stack(apart).sum()
