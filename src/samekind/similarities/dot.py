"""Inner product, with an optional bias."""

import torch
from torch import Tensor, nn

from samekind.similarities.scale import FixedScale, Scale


class Dot(nn.Module):
    """<a, b>, plus one learned bias if ``bias``.

    The bias shifts the border between same and different of a pair likelihood; between classes it cancels out
    (for a bias by class see `AuxiliaryHead(bias=True)`).
    """

    quantity = "inner product"
    symmetric = True
    chords = False

    def __init__(self, *, bias: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        self.bias = bias
        self.scale = scale or FixedScale()
        self.offset = nn.Parameter(torch.zeros(())) if bias else None

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self._shift((a * b).sum(-1))

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return self._shift(a @ b.mT)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (one score a pair, whatever the dimension)
        return 4

    def _shift(self, scores: Tensor) -> Tensor:
        return scores if self.offset is None else scores + self.offset
