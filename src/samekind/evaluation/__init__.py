"""One protocol per question: a space and labelled items to measures.

A protocol returns rows; ``name`` says which items were asked about. Embeddings are computed once and passed
in.
"""

from samekind.evaluation.classification import classification, heads, predicted_labels
from samekind.evaluation.clustering import clustering
from samekind.evaluation.everything import evaluate
from samekind.evaluation.few_shot import few_shot
from samekind.evaluation.retrieval import retrieval
from samekind.evaluation.rows import Row
from samekind.evaluation.validation import validation
from samekind.evaluation.verification import verification

__all__ = [
    "Row",
    "classification",
    "clustering",
    "evaluate",
    "few_shot",
    "heads",
    "predicted_labels",
    "retrieval",
    "validation",
    "verification",
]
