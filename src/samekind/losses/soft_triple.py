"""SoftTriple: a softmax with a small margin over classes that have several centres each.

Qian et al., "SoftTriple Loss: Deep Metric Learning Without Triplet Sampling", ICCV 2019.
"""

from torch import Tensor

from samekind.losses.additive_margin import additive_margin


def soft_triple(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 20.0,
    margin: float = 0.01,
    targets: Tensor | None = None,
) -> Tensor:
    """`additive_margin` with the paper's λ and δ, over one score a class.

    The several centres are the prototypes' part: LearnedProxies(count=10, pooling="soft") makes the cosines
    of a class's centres one by their softmax, whose temperature is the paper's γ, 0.1. With one centre it is
    CosFace with a small margin; with margin 0 NormFace. ``targets`` as in `softmax`.
    """
    return additive_margin(scores, positive, negative, scale=scale, margin=margin, targets=targets)
