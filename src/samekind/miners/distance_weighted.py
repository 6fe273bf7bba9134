"""Negatives drawn evenly over distance: in high dimensions most of them crowd at √2.

Wu et al., "Sampling Matters in Deep Embedding Learning", ICCV 2017. On the unit sphere the distance d of two
random points has density q(d) ~ d^(dimension - 2) (1 - d²/4)^((dimension - 3)/2); a negative is drawn with a
weight of 1/q(d).
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.miners.rows import triplet_rows


def distance_weighted(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    dimension: int,
    quantity: Literal["negative distance", "cosine"] = "negative distance",
    nearest: float = 0.5,
    farthest: float = 1.4,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each (anchor, positive), with one drawn negative of the anchor.

    ``dimension`` is that of the embeddings. The scores are of points on the sphere: negative chords
    (`Euclidean(normalise=True)`), or cosines, whose chord is √(2 - 2 cosine). A chord below ``nearest``
    counts as ``nearest``, or a few noisy neighbours would be drawn always; a negative from ``farthest`` on
    is not drawn, unless the anchor has no other: then all its negatives are drawn alike.
    """
    usable = negative.any(1)
    anchors, positives = (positive & usable[:, None]).nonzero(as_tuple=True)
    if not len(anchors):
        return anchors, positive[anchors], negative[anchors]
    distances = chords(scores[usable], quantity)
    chances = draw_chances(
        distances, negative[usable], dimension=dimension, nearest=nearest, farthest=farthest
    )
    # As many draws for an anchor as the one with most positives needs; the k-th goes to its k-th positive.
    turns = (positive.cumsum(1) - 1)[anchors, positives]
    drawn = draw(chances, count=int(turns.max()) + 1, generator=generator)
    rivals = drawn[(usable.cumsum(0) - 1)[anchors], turns]
    return triplet_rows(anchors, positives, rivals, candidates=scores.shape[1])


def chords(scores: Tensor, quantity: str) -> Tensor:
    """The distance of points on the sphere from their scores, in float32 at least."""
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    match quantity:
        case "negative distance":
            return -scores
        case "cosine":
            return (2 - 2 * scores).clamp(min=0).sqrt()
    raise SettingError(
        'weights by distance need scores that are "negative distance" (of normalised embeddings) or '
        f'"cosine", got "{quantity}"'
    )


def draw_chances(
    distances: Tensor, negative: Tensor, *, dimension: int, nearest: float, farthest: float
) -> Tensor:
    """The chance of each negative to be drawn, (anchors, candidates); every anchor must have one."""
    if not 0 < nearest < farthest < 2:
        raise SettingError(
            "distances on the sphere go from 0 to 2, and the weight is infinite at both ends: expected "
            f"0 < nearest < farthest < 2, got {nearest} and {farthest}"
        )
    eligible = negative & (distances < farthest)
    eligible = torch.where(eligible.any(1, keepdim=True), eligible, negative)
    clamped = distances.clamp(nearest, farthest)
    logarithms = (2 - dimension) * clamped.log() - (dimension - 3) / 2 * (1 - clamped.square() / 4).log()
    # Softmax subtracts the largest: in 512 dimensions the weights themselves span 200 powers of ten.
    return logarithms.masked_fill(~eligible, -torch.inf).softmax(1)


def draw(chances: Tensor, *, count: int, generator: torch.Generator | None) -> Tensor:
    """``count`` candidates for each row, with replacement: (rows, candidates) -> (rows, count)."""
    drawn = torch.multinomial(chances.cpu(), count, replacement=True, generator=generator)
    return drawn.to(chances.device)
