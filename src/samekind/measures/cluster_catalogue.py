"""The part of the catalogue about classes as clusters of embeddings, as a training records them."""

from samekind.measures.measure import Measure

NEAREST_CENTROID = Measure(
    "nearest-centroid accuracy",
    "the share of items that are nearer to the mean of their own class than to that of any other.",
)
CLUSTER_RADIUS = Measure(
    "cluster radius",
    "the mean distance of a class's items to their mean, averaged over classes. Lower is better.",
    better="lower",
    is_share=False,
)
CENTROID_SHIFT = Measure(
    "centroid shift",
    "how far the mean of a class moved since the epoch before, averaged over classes: near 0 where a "
    "training has settled.",
    better="lower",
    is_share=False,
)
