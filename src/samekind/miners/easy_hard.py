"""For each anchor one positive and one negative, each the hardest, the easiest or semi-hard.

Both the hardest is batch-hard mining: Hermans et al., "In Defense of the Triplet Loss for Person
Re-Identification", 2017. Easy positives with hard or semi-hard negatives: Xuan et al., "Improved Embeddings
with Easy Positive Triplet Mining", WACV 2020.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError

Choice = Literal["hard", "semi-hard", "easy", "all"]


def easy_hard(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    positives: Choice = "hard",
    negatives: Choice = "hard",
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Every anchor that has both, with the chosen positive and the chosen negative; of equal ones the first.

    A hard positive is the farthest and a hard negative the nearest, easy ones the other way round. A
    semi-hard negative is the nearest of those farther than the chosen positive, a semi-hard positive the
    farthest of those nearer than the chosen negative: an anchor without one has no row. "all" chooses none.
    """
    del generator
    _check(positives, negatives)
    choose_positive = _nearest if positives == "easy" else _farthest
    choose_negative = _farthest if negatives == "easy" else _nearest
    if negatives == "semi-hard":
        positive = choose_positive(scores, positive)
        bound = scores.masked_fill(~positive, -torch.inf).amax(1, keepdim=True)
        negative = choose_negative(scores, negative & (scores < bound))
    else:
        negative = negative if negatives == "all" else choose_negative(scores, negative)
        if positives == "semi-hard":
            bound = scores.masked_fill(~negative, -torch.inf).amax(1, keepdim=True)
            positive = positive & (scores > bound)
        positive = positive if positives == "all" else choose_positive(scores, positive)
    rows = (positive.any(1) & negative.any(1)).nonzero().flatten()
    return rows, positive[rows], negative[rows]


def _check(positives: str, negatives: str) -> None:
    for name, choice in (("positives", positives), ("negatives", negatives)):
        if choice not in ("hard", "semi-hard", "easy", "all"):
            raise SettingError(f'{name} are "hard", "semi-hard", "easy" or "all"; got "{choice}"')
    if "semi-hard" in (positives, negatives) and not {"hard", "easy"} & {positives, negatives}:
        raise SettingError(
            "semi-hard ones are chosen against one of the other side, hard or easy; got positives "
            f'"{positives}" and negatives "{negatives}"'
        )


def _nearest(scores: Tensor, mask: Tensor) -> Tensor:
    """The candidate with the highest score of each row alone; none where the mask has none."""
    best = scores.masked_fill(~mask, -torch.inf).argmax(1, keepdim=True)
    return mask & torch.zeros_like(mask).scatter_(1, best, True)


def _farthest(scores: Tensor, mask: Tensor) -> Tensor:
    return _nearest(-scores, mask)
