"""Large-margin softmax: the angle of the positive counts several times, lengths as they are.

Liu et al., "Large-Margin Softmax Loss for Convolutional Neural Networks", ICML 2016. It is `sphere_face` of
embeddings and prototypes that are not put on the sphere.
"""

import torch
from torch import Tensor

from samekind.losses.inputs import check
from samekind.losses.softmax import softmax
from samekind.losses.sphere_face import check_multiple, multiply_angle


def large_margin(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    lengths: Tensor | None = None,
    scale: float | Tensor = 1.0,
    margin: int = 4,
    targets: Tensor | None = None,
) -> Tensor:
    """`softmax` over inner products |a| |c| cos θ, those of positives with margin x θ in place of θ.

    ``lengths`` (anchors, candidates) holds |a| |c|; without them all are 1 and the scores are cosines. Past
    θ = π / margin the cosine is continued downwards, as in `sphere_face`. ``targets`` as in `softmax`.
    """
    check_multiple("large_margin", margin)
    check(scores, positive, negative)
    exact, moving = scores.to(torch.promote_types(scores.dtype, torch.float32)), positive
    cosines = exact.where(positive, 0)
    if lengths is not None:
        if lengths.shape != scores.shape:
            shapes = f"{tuple(scores.shape)} and {tuple(lengths.shape)}"
            raise ValueError(f"expected scores and lengths of one shape (anchors, candidates), got {shapes}")
        moving = positive & (lengths > 0)
        lengths = lengths.to(exact.dtype).where(moving, 1)
        cosines = cosines / lengths
    moved = multiply_angle(cosines, int(margin), beyond="falling")
    moved = (moved if lengths is None else moved * lengths).where(moving, exact)
    return softmax(moved, positive, negative, scale=scale, targets=targets).to(scores.dtype)
