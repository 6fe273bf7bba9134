"""FastAP: the average precision of each anchor's ranking, with its candidates sorted into a soft histogram.

Cakir et al., "Deep Metric Learning to Rank", CVPR 2019. Like `smooth_ap`, but candidates of one bin are tied,
so that its work is of the order of the scores.
"""

from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check
from samekind.losses.row_blocks import row_by_row


def fast_ap(scores: Tensor, positive: Tensor, negative: Tensor, *, bins: int = 10) -> Tensor:
    """1 - AP, where AP is Σ over bins, nearest first, of the positives in a bin times the share of positives
    in it and before it, over the number of positives.

    Cosines are sorted into ``bins`` + 1 nodes from 1 to -1; one between two nodes counts for each in
    proportion to its nearness. As d² = 2 - 2 cosine, these are the paper's bins of squared distances. An
    anchor with no positive or no negative costs 0. Scores outside of [-1, 1] are clamped.
    """
    if bins < 1:
        raise SettingError(f"a histogram needs at least 1 bin, got {bins}")
    check(scores, positive, negative)

    def cost(score: Tensor, ahead: Tensor, behind: Tensor) -> Tensor:
        position = (1 - score.where(ahead | behind, 0).clamp(-1, 1)) * (bins / 2)
        node = position.detach().long().clamp(max=bins - 1)
        own, others = (_histogram(node, position - node, mask, bins) for mask in (ahead, behind))
        reached = own.cumsum(1)
        among = reached + others.cumsum(1)
        precision = (own * (reached / among.where(among > 0, 1))).sum(1) / ahead.sum(1).clamp(min=1)
        return (1 - precision).clamp(min=0).where(ahead.any(1) & behind.any(1), 0)

    return row_by_row(cost, (scores, None), (positive, None), (negative, None)).to(scores.dtype)


def _histogram(node: Tensor, beyond: Tensor, mask: Tensor, bins: int) -> Tensor:
    """How many candidates of each row are at each node: (rows, candidates) -> (rows, bins + 1)."""
    empty = beyond.new_zeros(len(beyond), bins + 1)
    return empty.scatter_add(1, node, (1 - beyond).where(mask, 0)).scatter_add(
        1, node + 1, beyond.where(mask, 0)
    )
