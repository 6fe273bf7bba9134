"""Two embeddings to a score; higher is closer.

A similarity is a module. The first argument is the prototype, enrolment or query.

- ``forward(a, b)``: pairs, (n, d), (n, d) -> (n,); ``score_all(a, b)``: every a against every b;
- ``quantity``: what its scores are (cosine, inner product, negative distance, log-distance, logit);
- ``scale``: fixed, learned, or following the scores by ``after_step(scores, positive)``; the training step
  calls that with the scores of a term against classes, and ``reads`` says which quantity it can follow;
- ``symmetric``: whether the order of the two does not matter;
- ``chords``: whether it scores by the straight-line distance of points on the unit sphere;
- ``pair_bytes(dimension)``: the working memory of one pair;
- ``frozen(a, b)``, optional: itself, prepared once for all blocks;
- ``mapped(z, side)``, optional: vectors whose inner products are the scores, so that an index finds by them;
- ``enrolled(a, b, counts)``, optional: such vectors for enrolments that are the mean of several items;
- ``fit(z, labels)``, optional: finds its numbers in labelled embeddings instead of by training.

`blocks` walks any of them in bounded memory, and `score_tasks` scores many small tasks at once. A space gives
up to five scores: ``similarity`` (its own), ``cosine``, ``fused`` for a similarity whose scores are logits,
``fitted`` and ``normalised``. GPU kernels are in `kernels`.
"""

from samekind.similarities.adacos_scale import AdaCosScale
from samekind.similarities.angles import Angle, LogAngle
from samekind.similarities.blocks import (
    MEMORY_BUDGET,
    Similarity,
    blocks,
    prepared_enrolments,
    score_all,
    score_enrolled,
)
from samekind.similarities.corrected_cosine import CorrectedCosine
from samekind.similarities.cosine import Cosine
from samekind.similarities.distances import Euclidean, LogDistance, SquaredEuclidean
from samekind.similarities.dot import Dot
from samekind.similarities.dynamic_scale import DynamicScale
from samekind.similarities.fused import Fused
from samekind.similarities.mahalanobis import Mahalanobis
from samekind.similarities.minkowski import Minkowski
from samekind.similarities.neighbourhood import Neighbourhood
from samekind.similarities.pairs_network import PairsNetwork
from samekind.similarities.poincare import Poincare
from samekind.similarities.scale import FixedScale, LearnedScale, Scale
from samekind.similarities.signal_to_noise import SignalToNoise
from samekind.similarities.tasks import score_tasks
from samekind.similarities.two_covariance import TwoCovariance
from samekind.similarities.within_class import WithinClass

#: The similarities a space can be built with.
SIMILARITIES = (
    "Angle",
    "CorrectedCosine",
    "Cosine",
    "Dot",
    "Euclidean",
    "LogAngle",
    "LogDistance",
    "Mahalanobis",
    "Minkowski",
    "PairsNetwork",
    "Poincare",
    "SignalToNoise",
    "SquaredEuclidean",
)

#: The similarities that are fitted to embeddings, not trained.
FITTED = ("Neighbourhood", "TwoCovariance", "WithinClass")

#: The scales a similarity can have.
SCALES = ("AdaCosScale", "DynamicScale", "FixedScale", "LearnedScale")

__all__ = [
    "FITTED",
    "MEMORY_BUDGET",
    "SCALES",
    "SIMILARITIES",
    "AdaCosScale",
    "Angle",
    "CorrectedCosine",
    "Cosine",
    "Dot",
    "DynamicScale",
    "Euclidean",
    "FixedScale",
    "Fused",
    "LearnedScale",
    "LogAngle",
    "LogDistance",
    "Mahalanobis",
    "Minkowski",
    "Neighbourhood",
    "PairsNetwork",
    "Poincare",
    "Scale",
    "SignalToNoise",
    "Similarity",
    "SquaredEuclidean",
    "TwoCovariance",
    "WithinClass",
    "blocks",
    "prepared_enrolments",
    "score_all",
    "score_enrolled",
    "score_tasks",
]
