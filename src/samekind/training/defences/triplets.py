"""Triplet-loss adversarial training: an attacked item stays nearer to its class than to any other.

Mao et al., "Metric Learning for Adversarial Robustness", NeurIPS 2019 (TLA). Weights and margin are those of
the authors' code (config_cifar.json). For MNIST it has others (config_mnist.json): a weight of 0.5, a margin
of 0.05 and 0.0001 for lengths.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.losses import triplet
from samekind.training.defences.answers import Both
from samekind.training.defences.mixing import all_attacked
from samekind.training.tables import Defence

WEIGHT, MARGIN = 2.0, 0.03
#: The weight of the mean length of embeddings, which keeps them from growing.
LENGTH = 0.001


def attacked_triplets(both: Both, settings: Defence) -> Tensor:
    """`all_attacked`, the weight times the triplet loss, and 0.001 times the mean length of embeddings.

    Anchors are attacked items, by cosine. Positives are the clean items of the anchor's class, its own among
    them; the negative is the clean item of another class that is nearest to the anchor. The authors' code
    differs: two positives, the own item and one drawn; the negative from ten batches; the absolute cosine, of
    features that are never below 0; mean squares for lengths; weights that were trained against attacks.
    """
    weight = WEIGHT if settings.weight is None else settings.weight
    margin = MARGIN if settings.margin is None else settings.margin
    anchors, candidates = both.attacked.z, both.clean.z
    scores = F.normalize(anchors) @ F.normalize(candidates).T
    same = both.y[:, None] == both.y
    nearest = scores.detach().masked_fill(same, -torch.inf).argmax(1, keepdim=True)
    hardest = torch.zeros_like(same).scatter(1, nearest, True) & ~same
    lengths: Tensor = torch.linalg.vector_norm(torch.cat([anchors, candidates]), dim=1).mean()
    return (
        all_attacked(both, settings)
        + weight * triplet(scores, same, hardest, margin=margin).mean()
        + LENGTH * lengths
    )
