"""For each pair of an anchor and a positive, the one negative that is hardest for that anchor.

The mining of the triplet baseline of Monteiro et al., "An end-to-end approach for the verification
problem", 2020.
"""

import torch
from torch import Tensor

from samekind.miners.rows import triplet_rows


def hardest(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    margin: float = 0.1,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each (anchor, positive) whose hardest negative comes within the margin of the positive.

    A row's masks hold that positive and that negative alone. Where no row survives, the one nearest to
    surviving is kept, so that a batch always has something to say; where there is no triplet at all, no row
    comes back.
    """
    del generator
    anchors, positives = (positive & negative.any(1, keepdim=True)).nonzero(as_tuple=True)
    if not len(anchors):
        return anchors, positive[anchors], negative[anchors]
    rivals = scores.masked_fill(~negative, -torch.inf).argmax(1)[anchors]
    breach = scores[anchors, rivals] - scores[anchors, positives] + margin
    kept = breach > 0
    if not kept.any():
        kept = torch.arange(len(breach), device=breach.device) == breach.argmax()
    return triplet_rows(anchors[kept], positives[kept], rivals[kept], candidates=scores.shape[1])
