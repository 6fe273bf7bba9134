"""For each pair of an anchor and a positive, the negatives behind the positive but within the margin.

Schroff et al., "FaceNet: A Unified Embedding for Face Recognition and Clustering", CVPR 2015.
"""

import torch
from torch import Tensor

from samekind.miners.rows import pair_rows


def semi_hard(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    margin: float = 0.2,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each (anchor, positive) with a negative at d(a, p) < d(a, n) < d(a, p) + margin.

    Distances are negative scores. A row's masks hold that positive and all such negatives, not one of them
    at random. Like `hardest`, but a negative nearer than the positive is left out: pulling on it early in
    training can collapse the space. Both bounds are strict: at the margin itself a hinge costs nothing.
    A pair without such a negative has no row. Needs memory for (pairs, candidates).
    """
    del generator
    anchors, positives = (positive & negative.any(1, keepdim=True)).nonzero(as_tuple=True)
    reached = scores[anchors, positives][:, None]
    rivals = scores[anchors]
    within = negative[anchors] & (rivals < reached) & (rivals > reached - margin)
    return pair_rows(anchors, positives, within)
