"""Adversarial training: the loss of attacked items, alone or beside that of clean ones.

Half and half is of Goodfellow, Shlens and Szegedy, "Explaining and Harnessing Adversarial Examples", ICLR
2015; attacked items alone of Madry et al., "Towards Deep Learning Models Resistant to Adversarial Attacks",
ICLR 2018.
"""

from torch import Tensor

from samekind.training.defences.answers import Both
from samekind.training.tables import Defence


def mixed(both: Both, settings: Defence) -> Tensor:
    """With the loss of the clean items: the mean of both losses."""
    return all_attacked(both, settings) / 2


def all_attacked(both: Both, _settings: Defence) -> Tensor:
    """With the loss of the clean items: the loss of the attacked ones."""
    return both.attacked.value.total - both.clean.value.total
