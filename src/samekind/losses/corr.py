"""CORR: each item turns towards the fixed proxy of its class; the other classes play no part.

Barz and Denzler, "Hierarchy-based Image Embeddings for Semantic Image Retrieval", WACV 2019. Squared: Mettes
et al., "Hyperspherical Prototype Networks", NeurIPS 2019.
"""

from torch import Tensor

from samekind.losses.inputs import check


def corr(scores: Tensor, positive: Tensor, negative: Tensor, *, squared: bool = False) -> Tensor:
    """1 - cosine, or its square, as a mean over an anchor's positives; between 0 and 2, or 4.

    Nothing pushes, so the proxies must stay where they are: if they learned, all would meet in one point.
    The mean over items is the text's; the authors' code has the sum. An anchor without positives costs 0.
    """
    check(scores, positive, negative)
    gaps = 1 - scores.where(positive, 1).clamp(-1, 1)
    if squared:
        gaps = gaps.square()
    return gaps.sum(1) / positive.sum(1).clamp(min=1)
