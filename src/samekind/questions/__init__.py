"""Questions to a trained space, one file each: Python values in, a typed answer out.

A question takes a space, items (`data.Collection`, `data.Items`) and settings. It prints nothing; long work
is reported to ``progress``. An answer is a frozen dataclass of plain values. ``to_json()`` gives it as a
program gets it, and ``warnings`` has the sentences that a person must see beside it. An answer names no file
that was read or written: who reads and writes files adds their paths.
"""

from samekind.questions.attention import Looked, attention
from samekind.questions.calibrate import Calibrated, calibrate, calibrate_on_trials, calibrate_open_set
from samekind.questions.check import Checked, check
from samekind.questions.classes import Related, classes
from samekind.questions.cluster import Clustered, cluster
from samekind.questions.compare import Comparison, compare
from samekind.questions.embed import Embedded, embed
from samekind.questions.enroll import Enrolled, enroll, remove_class
from samekind.questions.evaluate import (
    Evaluated,
    EvaluationSettings,
    evaluate_items,
    evaluate_run,
    evaluate_trials,
)
from samekind.questions.evaluate_against import Differences, evaluate_against
from samekind.questions.identify import Identified, identify
from samekind.questions.index import IndexInfo, add_to_index, build_index, index_info, remove_from_index
from samekind.questions.info import SpaceInfo, info
from samekind.questions.novelty import Judged, novelty
from samekind.questions.predict import Predicted, predict
from samekind.questions.reading import Columns, collected
from samekind.questions.search import Searched, search
from samekind.questions.two_sample import Tested, two_sample

__all__ = [
    "Calibrated",
    "Checked",
    "Clustered",
    "Columns",
    "Comparison",
    "Differences",
    "Embedded",
    "Enrolled",
    "Evaluated",
    "EvaluationSettings",
    "Identified",
    "IndexInfo",
    "Judged",
    "Looked",
    "Predicted",
    "Related",
    "Searched",
    "SpaceInfo",
    "Tested",
    "add_to_index",
    "attention",
    "build_index",
    "calibrate",
    "calibrate_on_trials",
    "calibrate_open_set",
    "check",
    "classes",
    "cluster",
    "collected",
    "compare",
    "embed",
    "enroll",
    "evaluate_against",
    "evaluate_items",
    "evaluate_run",
    "evaluate_trials",
    "identify",
    "index_info",
    "info",
    "novelty",
    "predict",
    "remove_class",
    "remove_from_index",
    "search",
    "two_sample",
]
