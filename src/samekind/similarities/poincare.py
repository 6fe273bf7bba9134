"""Hyperbolic distance in the Poincaré ball: room for trees, since it grows exponentially with the radius.

Nickel and Kiela, "Poincaré Embeddings for Learning Hierarchical Representations", NeurIPS 2017; Ganea et al.,
"Hyperbolic Neural Networks", NeurIPS 2018; Khrulkov et al., "Hyperbolic Image Embeddings", CVPR 2020.

The ball of curvature c holds the points with c|x|² < 1.
"""

import math

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.distances import crossed, exact, paired
from samekind.similarities.scale import FixedScale, Scale


class Poincare(nn.Module):
    """The negative hyperbolic distance, at most 0; its gradient where two items meet is 0.

    Embeddings are tangent vectors at the origin, of any length: the exponential map puts them into the
    ball. So an encoder needs no special last layer, and a mean of embeddings is the mean of tangent
    vectors. Points are clipped to a radius of (1 - clip)/√curvature, where float32 still separates them; a
    longer vector has no gradient in its length. As the curvature goes to 0 the distance goes to 2|a - b|.
    """

    quantity = "negative distance"
    symmetric = True
    chords = False

    def __init__(self, *, curvature: float = 1.0, clip: float = 1e-5, scale: Scale | None = None) -> None:
        super().__init__()
        if not (curvature > 0 and math.isfinite(curvature)):
            raise SettingError(f"the curvature must be a positive number, got {curvature}; 0 is Euclidean")
        if not 0 < clip < 1:
            raise SettingError(f"the clip is the part of the radius left out, between 0 and 1; got {clip}")
        self.curvature = curvature
        self.clip = clip
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        (first, left), (second, right) = self._place(a), self._place(b)
        return self._score(paired(first, second, normalise=False) * left * right).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        (first, left), (second, right) = self._place(a), self._place(b)
        return self._score(crossed(first, second, normalise=False) * left[:, None] * right).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (three numbers a pair, whatever the dimension)
        return 12

    def _place(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Each vector's point in the ball (n, d), and 1/√(1 - c|point|²) (n,), which is cosh(√c|vector|).

        Computed from the vector, because near the border 1 - c|point|² loses its digits.
        """
        z = exact(z, normalise=False)
        lengths = math.sqrt(self.curvature) * torch.linalg.vector_norm(z, dim=-1, keepdim=True)
        # Not 0, where the length has no gradient; the map is the identity there.
        lengths = lengths.clamp(min=1e-12)
        clipped = lengths.clamp(max=math.atanh(1 - self.clip))
        return clipped.tanh() / lengths * z, clipped.cosh().squeeze(-1)

    def _score(self, stretched: Tensor) -> Tensor:
        """The score, computed from √(|x - y|²/((1 - c|x|²)(1 - c|y|²))).

        The same distance as `distance`, by sinh(√c d/2), without cancellation for near points or at the
        border.
        """
        root = math.sqrt(self.curvature)
        return -2 / root * (root * stretched).asinh()
