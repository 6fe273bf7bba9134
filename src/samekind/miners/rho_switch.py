"""Distance-weighted triplets, some of them switched so that a class keeps its inner differences.

Roth et al., "Revisiting Training Strategies and Generalization Performance in Deep Metric Learning",
ICML 2020.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.miners.distance_weighted import chords, draw, draw_chances
from samekind.miners.rows import triplet_rows


def rho_switch(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    dimension: int,
    switch: float = 0.2,
    quantity: Literal["negative distance", "cosine"] = "negative distance",
    nearest: float = 0.5,
    farthest: float = 1.4,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each anchor that has both: a random positive, and a negative as `distance_weighted` draws.

    With probability ``switch`` the row is instead the anchor itself as positive and the random positive as
    negative, which pushes two items of one class apart, up to the margin. So the masks that come back are
    not part of those given, and the scores must be those of a batch with itself.
    """
    if scores.shape[0] != scores.shape[1]:
        raise SettingError(
            "rho_switch makes an item its own positive, so it needs the scores of a batch with itself, "
            f"(n, n); got {tuple(scores.shape)}. Use it in a term against the batch."
        )
    anchors = (positive.any(1) & negative.any(1)).nonzero().flatten()
    if not len(anchors):
        return anchors, positive[anchors], negative[anchors]
    distances = chords(scores[anchors], quantity)
    chances = draw_chances(
        distances, negative[anchors], dimension=dimension, nearest=nearest, farthest=farthest
    )
    rivals = draw(chances, count=1, generator=generator).squeeze(1)
    relatives = draw(positive[anchors].float(), count=1, generator=generator).squeeze(1)
    switched = (torch.rand(len(anchors), generator=generator) < switch).to(scores.device)
    positives, rivals = torch.where(switched, anchors, relatives), torch.where(switched, relatives, rivals)
    return triplet_rows(anchors, positives, rivals, candidates=len(scores))
