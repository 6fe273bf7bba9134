"""NormFace of clean items, and ArcFace with a margin below 0 of attacked ones.

Kim, "On the Significance of Distance in Machine Learning", 2023, section 6.2.1: clean items move to their
proxy; attacked ones must only stay on their own side of the middle between two proxies. So classes stay
compact; with plain adversarial training they do not.
"""

import torch.nn.functional as F
from torch import Tensor

from samekind.losses import arc_face
from samekind.training.defences.answers import Both
from samekind.training.tables import Defence

#: By how much an attacked item is to stay on the right side, in radians.
CLEAR = 1e-3


def negative_margin(both: Both, settings: Defence) -> Tensor:
    """The weight times the mean ArcFace loss of attacked items against the prototypes."""
    candidates = both.attacked.value.candidates["prototypes"]
    assert candidates.masks is not None
    vectors = candidates.vectors.detach()
    margins = class_margins(vectors) if settings.margin is None else settings.margin
    shares = arc_face(
        candidates.scores,
        *candidates.masks,
        scale=candidates.similarity.scale(),
        margin=margins,
        targets=both.y,
    )
    return (1.0 if settings.weight is None else settings.weight) * shares.mean()


def class_margins(proxies: Tensor) -> Tensor:
    """Minus half of the angle to the nearest other proxy, and a little more: (classes, d) -> (classes,).

    >>> import torch
    >>> class_margins(torch.eye(2)) / torch.pi  # a right angle
    tensor([-0.2497, -0.2497])
    """
    units = F.normalize(proxies.float())
    cosines = (units @ units.T).fill_diagonal_(-1.0).amax(1).clamp(-1, 1)
    return CLEAR - cosines.acos() / 2
