"""What a batch costs: scores and two masks to one share per anchor.

A loss is ``loss(scores, positive, negative, *, …) -> (anchors,)``. ``scores`` is (anchors, candidates),
higher meaning closer, and the masks share its shape. The mean of the shares is the document's value. A
share is finite, and 0 where there is nothing to compare. Losses keep no state; what they need beyond the
masks is a keyword: ``scale`` and ``generator`` are handed over by the training step, the rest is set in the
run.
"""

from samekind.losses.additive_margin import additive_margin
from samekind.losses.pair_likelihood import pair_likelihood
from samekind.losses.softmax import softmax
from samekind.losses.triplet import triplet

#: The kinds of similarity a loss accepts; a loss that is not named here accepts all.
ACCEPTS = {
    "additive_margin": ("cosine",),
    "pair_likelihood": ("logit", "inner product"),
    "triplet": ("cosine", "negative distance", "log-distance", "inner product"),
}

__all__ = ["additive_margin", "pair_likelihood", "softmax", "triplet"]
