"""Losses: scores and two masks to one share per anchor.

A loss is ``loss(scores, positive, negative, *, …) -> (anchors,)``. ``scores`` is (anchors, candidates),
higher meaning closer; the masks have its shape. The mean of the shares over the anchors is the paper's
value. A share is finite, and 0 where there is nothing to compare. Losses keep no state. `torch.func.grad`,
`hessian` and `torch.vmap` over the scores go through them; the masks are the same for all scores.

A loss asks by a keyword for what it needs beyond the masks (`training.context.FOR_LOSSES` has all):

- ``scale``: the scale of the similarity;
- ``between``: the scores of candidates with each other, -inf where two are of one class;
- ``targets``: the class of each anchor, where the candidates are the classes and nothing was mined, or None;
- ``generator``: for a loss that draws;
- ``lengths``: the product of the lengths of anchor and candidate, for each score;
- ``distances``: those of the classes in their tree, (classes, classes);
- ``lineage``: the nodes of that tree above the classes.

Other keywords are settings, which a run gives as the arguments of its term. `ACCEPTS` names the scores
that a loss takes (not listed: all). `IN_ORDER` names the setting that needs the batch as it is,
unmined. A loss that asks for the tree has the classes as its candidates. A run that breaks one of these is
refused when it is built.
"""

from samekind.losses.additive_margin import additive_margin
from samekind.losses.angular import angular
from samekind.losses.arc_face import arc_face
from samekind.losses.circle import circle
from samekind.losses.conditional_softmax import conditional_softmax
from samekind.losses.contrastive import contrastive, exponential_contrastive
from samekind.losses.corr import corr
from samekind.losses.fast_ap import fast_ap
from samekind.losses.histogram import histogram
from samekind.losses.hxe import hxe
from samekind.losses.intra_pair_variance import intra_pair_variance
from samekind.losses.large_margin import large_margin
from samekind.losses.lifted_structure import generalised_lifted_structure, lifted_structure
from samekind.losses.linear_contrastive import linear_contrastive, margin_based
from samekind.losses.multi_similarity import multi_similarity
from samekind.losses.n_pair import n_pair
from samekind.losses.nca import nca
from samekind.losses.pair_likelihood import pair_likelihood
from samekind.losses.proxy_anchor import proxy_anchor
from samekind.losses.proxy_nca import proxy_nca
from samekind.losses.quadruplet import quadruplet
from samekind.losses.ranked_list import ranked_list
from samekind.losses.smooth_ap import smooth_ap
from samekind.losses.soft_labels import soft_labels
from samekind.losses.soft_triple import soft_triple
from samekind.losses.softmax import softmax
from samekind.losses.sphere_face import sphere_face
from samekind.losses.supervised_contrastive import supervised_contrastive
from samekind.losses.swapped_triplet import swapped_triplet
from samekind.losses.triplet import triplet

#: The scores a loss accepts (`Similarity.quantity`); a loss that is not named here accepts all.
ACCEPTS = {
    "additive_margin": ("cosine",),
    "angular": ("cosine", "inner product"),
    "arc_face": ("cosine",),
    "circle": ("cosine",),
    "contrastive": ("negative distance",),
    "corr": ("cosine",),
    "exponential_contrastive": ("negative distance",),
    "fast_ap": ("cosine",),
    "generalised_lifted_structure": ("negative distance", "cosine"),
    "histogram": ("cosine",),
    "intra_pair_variance": ("cosine",),
    "large_margin": ("inner product",),
    "lifted_structure": ("negative distance", "cosine"),
    "linear_contrastive": ("negative distance", "cosine"),
    "margin_based": ("negative distance",),
    "multi_similarity": ("cosine",),
    "n_pair": ("inner product", "cosine"),
    "nca": ("cosine", "negative distance", "log-distance", "inner product"),
    "pair_likelihood": ("logit", "inner product"),
    "proxy_anchor": ("cosine",),
    "proxy_nca": ("negative distance", "cosine"),
    "quadruplet": ("negative distance", "cosine"),
    "ranked_list": ("negative distance",),
    "smooth_ap": ("cosine", "negative distance", "inner product"),
    "soft_triple": ("cosine",),
    "sphere_face": ("cosine",),
    "supervised_contrastive": ("cosine", "inner product", "negative distance"),
    "swapped_triplet": ("cosine", "negative distance", "log-distance", "inner product"),
    "triplet": ("cosine", "negative distance", "log-distance", "inner product"),
}

#: The setting with which a loss asks which candidate comes after its anchor in the batch.
IN_ORDER = {"pair_likelihood": ("weighting", "triplets")}

#: What a loss asks for that comes from the tree of the classes.
FROM_TREE = ("distances", "lineage")

__all__ = [
    "additive_margin",
    "angular",
    "arc_face",
    "circle",
    "conditional_softmax",
    "contrastive",
    "corr",
    "exponential_contrastive",
    "fast_ap",
    "generalised_lifted_structure",
    "histogram",
    "hxe",
    "intra_pair_variance",
    "large_margin",
    "lifted_structure",
    "linear_contrastive",
    "margin_based",
    "multi_similarity",
    "n_pair",
    "nca",
    "pair_likelihood",
    "proxy_anchor",
    "proxy_nca",
    "quadruplet",
    "ranked_list",
    "smooth_ap",
    "soft_labels",
    "soft_triple",
    "softmax",
    "sphere_face",
    "supervised_contrastive",
    "swapped_triplet",
    "triplet",
]
