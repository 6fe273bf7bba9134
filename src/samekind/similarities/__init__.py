"""Two embeddings to a score; higher is closer.

A similarity is a module with a ``kind`` (what its scores are), a ``scale``, ``forward(a, b)`` for pairs,
``score_all(a, b)`` for every a against every b, and ``pair_bytes(dimension)``. The first argument is the
prototype, enrolment or query.
"""

from samekind.similarities.blocks import MEMORY_BUDGET, Similarity, blocks, score_all
from samekind.similarities.cosine import Cosine
from samekind.similarities.distances import Euclidean, LogDistance, SquaredEuclidean
from samekind.similarities.dot import Dot
from samekind.similarities.fused import Fused
from samekind.similarities.pairs_network import PairsNetwork
from samekind.similarities.scale import FixedScale, LearnedScale, Scale

#: The similarities a space can be built with.
SIMILARITIES = ("Cosine", "Dot", "Euclidean", "LogDistance", "PairsNetwork", "SquaredEuclidean")

__all__ = [
    "MEMORY_BUDGET",
    "SIMILARITIES",
    "Cosine",
    "Dot",
    "Euclidean",
    "FixedScale",
    "Fused",
    "LearnedScale",
    "LogDistance",
    "PairsNetwork",
    "Scale",
    "Similarity",
    "SquaredEuclidean",
    "blocks",
    "score_all",
]
