"""Softmax: each positive against all negatives at once.

Over prototypes this is the cross-entropy of a classifier; over the batch, the N-pair form. Cosine, -d², -d
and -ln d give NormFace, squared-distance, distance and distance-ratio classifiers.
"""

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check, check_smoothing
from samekind.losses.soft_maximum import soft_maximum


def softmax(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 1.0,
    smoothing: float = 0.0,
    spread: Literal["others", "all"] = "others",
    targets: Tensor | None = None,
) -> Tensor:
    """Mean over an anchor's positives of -log softmax(scale x score) among that positive and all negatives.

    ``smoothing`` moves that much of the target to the other candidates, in equal parts: to the K - 1 others
    (as Monteiro et al. do) or to all K, the positive too (as torch's cross-entropy does). An anchor with no
    positive or no negative costs 0. Computed in float32 at least.

    ``targets`` (anchors,), if given, is the one positive of each anchor, all others being negatives. The
    masks say so too, but to read it off them makes a GPU wait.
    """
    return moved_softmax(
        scores, positive, negative, scale=scale, smoothing=smoothing, spread=spread, targets=targets
    )


def moved_softmax(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    move: Callable[[Tensor, Tensor], Tensor] | None = None,
    scale: float | Tensor,
    smoothing: float = 0.0,
    spread: Literal["others", "all"] = "others",
    targets: Tensor | None = None,
) -> Tensor:
    """`softmax` with the positives' scores moved first, as all losses with a margin do.

    ``move`` gets the scores of all positive pairs and the candidate of each: (pairs,), (pairs,) -> (pairs,).
    """
    check(scores, positive, negative)
    if spread not in ("others", "all"):
        raise SettingError(f'the spread of the smoothing is "others" or "all"; got "{spread}"')
    check_smoothing(smoothing)
    # The share is a small difference of large logits: half precision would round it, and its gradient, away.
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if targets is None and smoothing <= 0.5:
        targets = _targets(positive, negative)
    # Above ½ the smoothing may be more than PyTorch's cross-entropy takes.
    if targets is not None and smoothing <= 0.5 and scores.shape[1] > 1:
        return _cross_entropy(exact, targets, move, scale, smoothing, spread).to(scores.dtype)
    behind = soft_maximum(exact, negative, factor=scale)
    # Positives are few: pair by pair costs less than another matrix.
    anchors, positives = positive.nonzero(as_tuple=True)
    ahead = exact[anchors, positives]
    ahead = scale * (move(ahead, positives) if move else ahead)
    # log(1 + exp(behind - ahead)) is -log of the positive's part; without negatives it is 0.
    costs = F.softplus(behind[anchors] - ahead)
    if smoothing:
        rivals = negative.sum(1).to(exact.dtype)
        others = scale * exact.where(negative, 0).sum(1) / rivals.clamp(min=1)
        parts = smoothing * (rivals.clamp(max=1) if spread == "others" else rivals / (rivals + 1))
        costs = costs + parts[anchors] * (ahead - others[anchors])
    total = costs.new_zeros(len(scores)).index_add(0, anchors, costs)
    return (total / anchors.bincount(minlength=len(scores)).clamp(min=1)).to(scores.dtype)


def _targets(positive: Tensor, negative: Tensor) -> Tensor | None:
    """The one positive of each anchor (anchors,), if all others are negatives, as for a classifier."""
    anchors, candidates = positive.shape
    others = anchors * (candidates - 1)
    if not others or int(negative.count_nonzero()) != others or int(positive.count_nonzero()) != anchors:
        return None
    # No product with the numbers of candidates: with tf32 a GPU shortens what it multiplies, 2049 to 2048.
    has_positive, numbers = positive.view(torch.uint8).max(1)
    return numbers if bool(has_positive.all()) else None


def _cross_entropy(
    scores: Tensor,
    targets: Tensor,
    move: Callable[[Tensor, Tensor], Tensor] | None,
    scale: float | Tensor,
    smoothing: float,
    spread: str,
) -> Tensor:
    """The same by PyTorch's cross-entropy, which is one fused operation where the masks allow it."""
    if move is not None:
        anchors = torch.arange(len(scores), device=scores.device)
        scores = scores.index_put((anchors, targets), move(scores[anchors, targets], targets))
    # Its smoothing goes to all K candidates, the positive too: K / (K - 1) of it is as much for the others
    # alone, and at most 1 if that is at most ½.
    classes = scores.shape[1]
    to_all = smoothing * classes / (classes - 1) if spread == "others" else smoothing
    return F.cross_entropy(scores * scale, targets, reduction="none", label_smoothing=to_all)
