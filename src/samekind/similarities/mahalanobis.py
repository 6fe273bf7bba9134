"""The Mahalanobis distance: Euclidean after a learned linear map.

Weinberger and Saul, "Distance Metric Learning for Large Margin Nearest Neighbor Classification", JMLR 2009.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.distances import crossed, exact, paired
from samekind.similarities.scale import FixedScale, Scale


class Mahalanobis(nn.Module):
    """-|L(a - b)| = -√((a - b)ᵀ LᵀL (a - b)), at most 0, where L is (rank, dimension) and learned.

    L starts as the identity, so at first this is `Euclidean`; with a ``rank`` below the dimension, the
    distance of the first ``rank`` coordinates. What L maps to 0 does not count.
    """

    quantity = "negative distance"
    symmetric = True
    chords = False

    def __init__(self, *, dimension: int, rank: int | None = None, scale: Scale | None = None) -> None:
        super().__init__()
        if rank is not None and not 1 <= rank <= dimension:
            raise SettingError(f"the rank must be from 1 to the dimension, {dimension}; got {rank}")
        self.dimension = dimension
        self.rank = rank
        self.scale = scale or FixedScale()
        self.map = nn.Parameter(torch.eye(rank or dimension, dimension))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return -paired(self._project(a), self._project(b), normalise=False).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return -crossed(self._project(a), self._project(b), normalise=False).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8

    def _project(self, z: Tensor) -> Tensor:
        z = exact(z, normalise=False)
        return F.linear(z, self.map.to(z.dtype))
