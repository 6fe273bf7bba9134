"""Two embeddings to a score; higher is closer.

A similarity is a module with a ``kind`` (what its scores are), a ``scale``, ``forward(a, b)`` for pairs,
``score_all(a, b)`` for every a against every b, and ``pair_bytes(dimension)``. The first argument is the
prototype, enrolment or query.
"""

from samekind.similarities.adacos_scale import AdaCosScale
from samekind.similarities.angles import Angle, LogAngle
from samekind.similarities.blocks import MEMORY_BUDGET, Similarity, blocks, score_all
from samekind.similarities.corrected_cosine import CorrectedCosine
from samekind.similarities.cosine import Cosine
from samekind.similarities.distances import Euclidean, LogDistance, SquaredEuclidean
from samekind.similarities.dot import Dot
from samekind.similarities.dynamic_scale import DynamicScale
from samekind.similarities.fused import Fused
from samekind.similarities.mahalanobis import Mahalanobis
from samekind.similarities.pairs_network import PairsNetwork
from samekind.similarities.poincare import Poincare
from samekind.similarities.scale import FixedScale, LearnedScale, Scale

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
    "PairsNetwork",
    "Poincare",
    "SquaredEuclidean",
)

#: The scales a similarity can have.
SCALES = ("AdaCosScale", "DynamicScale", "FixedScale", "LearnedScale")

__all__ = [
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
    "PairsNetwork",
    "Poincare",
    "Scale",
    "Similarity",
    "SquaredEuclidean",
    "blocks",
    "score_all",
]
