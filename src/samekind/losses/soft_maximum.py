"""log Σ exp over some of the candidates: the sum that the soft losses are made of.

Of tensors as large as the scores it keeps only the scores for the backward pass, so that a loss of two such
sums fits into memory where torch's own operations would not.
"""

from typing import Any

import torch
from torch import Tensor

from samekind.similarities.transforms import transforming

#: A power of e too small to change a sum. Lower ones are raised to it: denormal numbers are much slower.
NOTHING = -80.0


def soft_maximum(scores: Tensor, mask: Tensor, *, factor: float | Tensor = 1.0, dim: int = 1) -> Tensor:
    """log Σ exp(factor x score) over the masked scores along ``dim``: (anchors, candidates) -> (anchors,).

    Where the mask is empty it is a hugely negative number, not -inf: two of them still add up, and no
    gradient becomes NaN. In float32 at least. ``factor`` may be learned. What is not masked does not count,
    finite or not. It can be differentiated as often as one likes.
    """
    if transforming():
        powers = _powers(scores.where(mask, 0), factor)
        return powers.masked_fill(~mask, _least(powers)).logsumexp(dim)
    result: Tensor = _SoftMaximum.apply(scores, mask, factor, dim)  # type: ignore[no-untyped-call]
    return result.squeeze(dim)


class _SoftMaximum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, mask: Tensor, factor: float | Tensor, dim: int) -> Tensor:
        powers = _powers(scores, factor)
        if not powers.shape[dim]:
            # No candidates: there is no largest, and the gradient is 0.
            return powers.sum(dim, keepdim=True).fill_(_least(powers))
        powers.masked_fill_(~mask, _least(powers))
        largest = powers.amax(dim, keepdim=True)
        result = powers.sub_(largest).clamp_(min=NOTHING).exp_().sum(dim, keepdim=True).log_().add_(largest)
        ctx.factor = factor
        ctx.save_for_backward(scores, mask, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None, Tensor | None, None]:
        if not ctx.saved_tensors:
            return None, None, None, None
        scores, mask, result = ctx.saved_tensors
        again = torch.is_grad_enabled()
        if again or ctx.needs_input_grad[2]:
            scores = scores.where(mask, 0)  # its product with a weight of 0 must be 0
        # At most 0 before rounding where masked, and finite elsewhere.
        weights = _powers(scores, ctx.factor).sub_(result).clamp_(NOTHING, 1).exp_()
        # In place, unless a second derivative needs the numbers.
        weights = (weights.masked_fill if again else weights.masked_fill_)(~mask, 0)
        factor = None
        if ctx.needs_input_grad[2]:
            factor = (weights * scores * grad).sum().to(ctx.factor)
        product = (weights.mul if again else weights.mul_)(grad * ctx.factor)
        return product.to(scores.dtype), None, factor, None


def _powers(scores: Tensor, factor: float | Tensor) -> Tensor:
    """A new tensor, which the caller overwrites."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32)) * factor


def _least(powers: Tensor) -> float:
    """Half of the least number, so that the sum of two is still finite."""
    return torch.finfo(powers.dtype).min / 2
