"""Angular loss: the angle at the negative, in the triangle with anchor and positive, stays below a bound.

Wang et al., "Deep Metric Learning with Angular Loss", ICCV 2017. Like `n_pair`, but the negative is compared
with both ends of the positive pair, so its gradient sees all three points. It reads cosines or inner
products.
"""

import math

import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check, check_between
from samekind.losses.row_blocks import mean_over_positives
from samekind.losses.soft_maximum import soft_maximum


def angular(
    scores: Tensor, positive: Tensor, negative: Tensor, *, between: Tensor | None = None, alpha: float = 45.0
) -> Tensor:
    """ln(1 + Σ exp(4 tan²α (a + p)·n - 2 (1 + tan²α) a·p)) over all negatives n of an anchor a, the mean over
    its positives p.

    ``between`` (candidates, candidates) holds p·n. ``alpha`` is the largest angle allowed at n, in degrees.
    The paper averages over one (anchor, positive) pair from each class: that is the miner's part. An anchor
    with no positive or no negative costs 0.
    """
    if not 0 < alpha < 90:
        raise SettingError(f"alpha is an angle between 0 and 90 degrees, got {alpha}")
    check(scores, positive, negative)
    between = check_between(between, scores)
    slope = math.tan(math.radians(alpha)) ** 2

    def cost(score: Tensor, behind: Tensor, own: Tensor, other: Tensor) -> Tensor:
        # What does not depend on the negative stays outside of the sum.
        reach = soft_maximum(score + other, behind, factor=4 * slope)
        return F.softplus(reach - (2 * (1 + slope)) * score.gather(1, own).squeeze(1))

    return mean_over_positives(cost, scores, positive, negative, of_positives=[between])
