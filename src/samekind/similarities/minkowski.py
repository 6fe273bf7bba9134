"""Minkowski (Lp) distances turned into scores: (Σ |a - b|ᵖ)^(1/p), negated."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.distances import exact
from samekind.similarities.scale import FixedScale, Scale
from samekind.similarities.transforms import transforming


class Minkowski(nn.Module):
    """The negative Lp distance, at most 0; its gradient where two items meet is 0.

    ``p`` is 1 for the sum of absolute differences and 2 for `Euclidean`, which is faster; the larger it is,
    the more the largest difference counts. ``normalise`` puts the embeddings on the sphere first.
    """

    quantity = "negative distance"
    symmetric = True

    def __init__(self, *, p: float = 1.0, normalise: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        if not 1 <= p < math.inf:
            raise SettingError(f"p of a Minkowski distance is a finite number from 1 up; got {p}")
        self.p = p
        self.normalise = normalise
        self.scale = scale or FixedScale()

    @property
    def chords(self) -> bool:
        """Whether it is the Euclidean distance of points on the sphere."""
        return self.normalise and self.p == 2

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        differences = exact(a, self.normalise) - exact(b, self.normalise)
        distances: Tensor = torch.linalg.vector_norm(differences, ord=self.p, dim=-1)
        return -distances.to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        first, second = exact(a, self.normalise), exact(b, self.normalise)
        if transforming():
            return -_plain(first, second, self.p).to(a.dtype)
        distances: Tensor = _Crossed.apply(first, second, self.p)  # type: ignore[no-untyped-call]
        return -distances.to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8


class _Crossed(torch.autograd.Function):
    """The distance of every a and every b. PyTorch's own operation has first derivatives only; second ones
    are those of all differences at once, (n, m, d).
    """

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, p: float) -> Tensor:
        ctx.save_for_backward(a, b)
        ctx.p = p
        return _fast(a, b, p)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        again, learned = torch.is_grad_enabled(), [place for place in (0, 1) if ctx.needs_input_grad[place]]
        # Copies, as one may have been computed from the other: the gradient must end here.
        sides = [z.view_as(z) if again else z.detach().requires_grad_() for z in ctx.saved_tensors]
        with torch.enable_grad():
            distances = _plain(sides[0], sides[1], ctx.p) if again else _fast(sides[0], sides[1], ctx.p)
            parts = torch.autograd.grad(
                distances, [sides[place] for place in learned], grad, create_graph=again
            )
        by_place = dict(zip(learned, parts, strict=True))
        return by_place.get(0), by_place.get(1), None


def _fast(a: Tensor, b: Tensor, p: float) -> Tensor:
    # By differences also for p = 2: the way by a product loses digits where items are close.
    return torch.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist")


def _plain(a: Tensor, b: Tensor, p: float) -> Tensor:
    distances: Tensor = torch.linalg.vector_norm(a[:, None] - b, ord=p, dim=-1)
    return distances
