"""Large-margin softmax: the angle of the positive counts several times, lengths as they are.

Liu et al., "Large-Margin Softmax Loss for Convolutional Neural Networks", ICML 2016. It is `sphere_face` of
embeddings and prototypes that are not put on the sphere.
"""

from torch import Tensor

from samekind.losses.inputs import check
from samekind.losses.softmax import moved_softmax
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
    own = None if lengths is None else _of_positives(lengths, positive, targets)

    def moved(products: Tensor, _: Tensor) -> Tensor:
        if own is None:
            return multiply_angle(products, int(margin), beyond="falling")
        length = own.to(products.dtype).where(own > 0, 1)
        multiplied = length * multiply_angle(products / length, int(margin), beyond="falling")
        return multiplied.where(own > 0, 0)

    return moved_softmax(scores, positive, negative, move=moved, scale=scale, targets=targets)


def _of_positives(lengths: Tensor, positive: Tensor, targets: Tensor | None) -> Tensor:
    """The lengths of the positive pairs, in the order in which `moved_softmax` moves them: (pairs,)."""
    if lengths.shape != positive.shape:
        shapes = f"{tuple(positive.shape)} and {tuple(lengths.shape)}"
        raise ValueError(f"expected scores and lengths of one shape (anchors, candidates), got {shapes}")
    # To read them off the mask makes a GPU wait.
    return lengths[positive] if targets is None else lengths.gather(1, targets[:, None]).squeeze(1)
