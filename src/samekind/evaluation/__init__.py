"""One protocol per question: a space and labelled items to measures.

A protocol returns rows; ``name`` is the name of the items. Embeddings are computed once and passed in.
``measures="all"`` gives more rows, and ``seed`` fixes all random draws.

- The kind of score that the space answers a question by comes first among its rows: headlines quote it, and
  it is compared with the references.
- Every row has a 95% interval over its unit (classes, queries, items, episodes), or says that there is none.
- Selection happens on validation items. Selection on test items is asked for by name (``select_on="test"``),
  and every row then says so.
- Items of one group are not compared with each other: `data.groups.groups_apart` decides for all protocols.
"""

from samekind.evaluation.against import against
from samekind.evaluation.beside_known import few_shot_beside_known
from samekind.evaluation.claims import claims
from samekind.evaluation.class_errors import ClassRecall, Misplaced, class_recalls, misplaced
from samekind.evaluation.classification import classification, predicted_labels
from samekind.evaluation.clustering import clustering
from samekind.evaluation.cosine_references import cosine_references
from samekind.evaluation.enrolled import enrolled
from samekind.evaluation.everything import evaluate
from samekind.evaluation.few_shot import few_shot
from samekind.evaluation.five_questions import Answered, five_questions, unseen_rows
from samekind.evaluation.listed_trials import listed_trials
from samekind.evaluation.normalised import normalised, normalised_list
from samekind.evaluation.open_set import Identification, identification, open_set
from samekind.evaluation.over_runs import RankCorrelation, rank_correlation
from samekind.evaluation.promises import PromiseRow, RatePromise, listed_promises, promise_row, promises
from samekind.evaluation.references import references
from samekind.evaluation.retrieval import left_out, query_gallery, retrieval
from samekind.evaluation.rows import Row, is_upside_down, upside_down
from samekind.evaluation.samples import Compared
from samekind.evaluation.severity import severity
from samekind.evaluation.start import Gain, gains, verdict_in_words
from samekind.evaluation.tasks import missing_shots
from samekind.evaluation.unknown_classes import unknown_classes
from samekind.evaluation.untrained import untrained_encoder, untrained_references
from samekind.evaluation.validation import validation
from samekind.evaluation.verification import verification
from samekind.inference.temperatures import heads

__all__ = [
    "Answered",
    "ClassRecall",
    "Compared",
    "Gain",
    "Identification",
    "Misplaced",
    "PromiseRow",
    "RankCorrelation",
    "RatePromise",
    "Row",
    "against",
    "claims",
    "class_recalls",
    "classification",
    "clustering",
    "cosine_references",
    "enrolled",
    "evaluate",
    "few_shot",
    "few_shot_beside_known",
    "five_questions",
    "gains",
    "heads",
    "identification",
    "is_upside_down",
    "left_out",
    "listed_promises",
    "listed_trials",
    "misplaced",
    "missing_shots",
    "normalised",
    "normalised_list",
    "open_set",
    "predicted_labels",
    "promise_row",
    "promises",
    "query_gallery",
    "rank_correlation",
    "references",
    "retrieval",
    "severity",
    "unknown_classes",
    "unseen_rows",
    "untrained_encoder",
    "untrained_references",
    "upside_down",
    "validation",
    "verdict_in_words",
    "verification",
]
