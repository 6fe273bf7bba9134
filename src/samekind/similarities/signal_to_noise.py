"""Signal-to-noise distance: the variance of the difference of two embeddings, over that of the first.

Yuan et al., "Signal-to-Noise Ratio: A Robust Distance Metric for Deep Metric Learning", CVPR 2019.
"""

import torch
from torch import Tensor, nn

from samekind.similarities.distances import exact
from samekind.similarities.scale import FixedScale, Scale
from samekind.similarities.squares import squared_distances


class SignalToNoise(nn.Module):
    """-var(a - b) / var(a) over the numbers of an embedding, at most 0; the first one is the signal.

    The order of the two matters; a factor of both, or a number added to all of one's numbers, does not. A
    first one whose numbers are all alike has no signal: its score is -|a - b|² of the centred embeddings.
    """

    quantity = "negative distance"
    symmetric = False
    chords = False

    def __init__(self, *, scale: Scale | None = None) -> None:
        super().__init__()
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        first, second = _centred(a), _centred(b)
        return -((first - second).square().sum(-1) / _signal(first, a)).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        first = _centred(a)
        return -(squared_distances(first, _centred(b)) / _signal(first, a)[:, None]).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8


def _centred(z: Tensor) -> Tensor:
    z = exact(z, normalise=False)
    return z - z.mean(-1, keepdim=True)


def _signal(centred: Tensor, z: Tensor) -> Tensor:
    """The squared length of centred embeddings (n,); 1 where it is no more than rounding left."""
    squares = centred.square().sum(-1)
    rounding = (8 * torch.finfo(centred.dtype).eps) ** 2 * exact(z, normalise=False).square().sum(-1)
    return squares.where(squares > rounding, 1)
