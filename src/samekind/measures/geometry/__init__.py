"""What is the space like? Measures of the embeddings themselves, without a trial or a query.

How classes lie (`representation`, `class_clusters`), how many directions carry the features (`spectrum`), how
embeddings change when directions or their class are taken out (`directions`), what a training step did to
them (`dynamics`), how far the nearest adversarial point is (`adversarial_distance`), and how far a distance
is from a metric (`metric_axioms`, which `samekind.inference.metric_axioms` calls). `samekind representation`
reports the first three. `class_clusters` and `adversarial_distance` are for research code.
"""

from samekind.measures.geometry.adversarial_distance import adversarial_distances, smallest_distance
from samekind.measures.geometry.class_clusters import centroid_shifts, class_radii, nearest_centroid_accuracy
from samekind.measures.geometry.directions import (
    PrincipalDirections,
    evening_weights,
    principal_directions,
    residual_features,
    reweighted,
)
from samekind.measures.geometry.dynamics import (
    DYNAMICS,
    PROPER,
    CheckpointComparison,
    Rescaling,
    compare_checkpoints,
    rescaling,
    step_dynamics,
)
from samekind.measures.geometry.metric_axioms import Breaches, MetricAxioms, metric_breaches
from samekind.measures.geometry.representation import (
    ClassDensity,
    ClassSpread,
    class_density,
    class_separation,
    class_spread,
)
from samekind.measures.geometry.spectrum import directions_of_variance, spectral_decay

__all__ = [
    "DYNAMICS",
    "PROPER",
    "Breaches",
    "CheckpointComparison",
    "ClassDensity",
    "ClassSpread",
    "MetricAxioms",
    "PrincipalDirections",
    "Rescaling",
    "adversarial_distances",
    "centroid_shifts",
    "class_density",
    "class_radii",
    "class_separation",
    "class_spread",
    "compare_checkpoints",
    "directions_of_variance",
    "evening_weights",
    "metric_breaches",
    "nearest_centroid_accuracy",
    "principal_directions",
    "rescaling",
    "residual_features",
    "reweighted",
    "smallest_distance",
    "spectral_decay",
    "step_dynamics",
]
