"""Smooth AP: the average precision of each anchor's ranking, with soft steps for ranks.

Brown et al., "Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval", ECCV 2020. Like `triplet`
it compares each positive with each negative, but a mistake near the top of the ranking counts more.
"""

from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check
from samekind.losses.row_blocks import mean_over_positives


def smooth_ap(scores: Tensor, positive: Tensor, negative: Tensor, *, temperature: float = 0.01) -> Tensor:
    """1 - AP, where AP is the mean over positives of rank among the positives / rank among all.

    A rank is 1 + Σ sigmoid((other - own) / temperature). As the temperature goes to 0, so does the distance
    from the true AP; the gradient is then felt only by pairs of near equal score. An anchor with no positive
    or no negative costs 0. The authors count the anchor itself, always first, among its positives; the masks
    say whether it is. Work of order positive pairs x candidates, in memory of order anchors x candidates.
    """
    if not temperature > 0:
        raise SettingError(f"the temperature must be a positive number, got {temperature}")
    check(scores, positive, negative)

    def cost(score: Tensor, behind: Tensor, own: Tensor, ahead: Tensor) -> Tensor:
        steps = ((score - score.gather(1, own)) / temperature).sigmoid()
        # The step to itself is a half, which with another half makes the 1 of the rank.
        among_positives = 0.5 + steps.masked_fill(~ahead, 0).sum(1)
        rivals = steps.masked_fill(~behind, 0).sum(1)
        return rivals / (among_positives + rivals)

    counted = scores.where(positive | negative, 0)
    return mean_over_positives(cost, counted, positive, negative, of_anchors=[positive])
