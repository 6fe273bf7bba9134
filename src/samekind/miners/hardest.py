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

    A row's masks hold that positive and that negative alone. If no negative comes within the margin, the row
    nearest to it is returned, so that a batch with a triplet always has a cost. Without a triplet no row is
    returned.
    """
    del generator
    anchors, positives = (positive & negative.any(1, keepdim=True)).nonzero(as_tuple=True)
    if not len(anchors):
        return anchors, positive[anchors], negative[anchors]
    rivals = scores.masked_fill(~negative, -torch.inf).argmax(1)[anchors]
    breach = scores[anchors, rivals] - scores[anchors, positives] + margin
    hard = breach > 0
    if not hard.any():
        hard = torch.arange(len(breach), device=breach.device) == breach.argmax()
    return triplet_rows(anchors[hard], positives[hard], rivals[hard], candidates=scores.shape[1])
