"""Questions to a trained space, one file each: Python values in, a typed answer out.

A question takes a space, items (`data.Collection`, `data.Items`) and settings. It prints nothing; long work
is reported to ``progress``. An answer is a frozen dataclass of plain values. ``to_json()`` gives it as a
program gets it, and ``warnings`` has the sentences that a person must see beside it. An answer names no file
that was read or written: who reads and writes files adds their paths.
"""

from samekind.questions.adapt import adapt
from samekind.questions.attack import attack
from samekind.questions.attention import attention
from samekind.questions.calibrate import calibrate, calibrate_on_trials, calibrate_open_set
from samekind.questions.certify import certify
from samekind.questions.check import check
from samekind.questions.classes import classes
from samekind.questions.cluster import cluster
from samekind.questions.compare import compare
from samekind.questions.dynamics import dynamics
from samekind.questions.embed import embed
from samekind.questions.enroll import enroll, enroll_classes, remove_class
from samekind.questions.evaluate import evaluate_items, evaluate_run, evaluate_trials
from samekind.questions.evaluate_against import evaluate_against
from samekind.questions.export import export
from samekind.questions.gallery_map import gallery_map
from samekind.questions.identify import identify
from samekind.questions.identify_windows import identify_windows
from samekind.questions.index import add_to_index, build_index, index_info, remove_from_index
from samekind.questions.info import info
from samekind.questions.novelty import novelty
from samekind.questions.predict import predict
from samekind.questions.reading import collected
from samekind.questions.representation import representation
from samekind.questions.robustness import robustness
from samekind.questions.search import search
from samekind.questions.shift import shift
from samekind.questions.tradeoff import tradeoff
from samekind.questions.tree import tree
from samekind.questions.two_sample import two_sample

__all__ = [
    "adapt",
    "add_to_index",
    "attack",
    "attention",
    "build_index",
    "calibrate",
    "calibrate_on_trials",
    "calibrate_open_set",
    "certify",
    "check",
    "classes",
    "cluster",
    "collected",
    "compare",
    "dynamics",
    "embed",
    "enroll",
    "enroll_classes",
    "evaluate_against",
    "evaluate_items",
    "evaluate_run",
    "evaluate_trials",
    "export",
    "gallery_map",
    "identify",
    "identify_windows",
    "index_info",
    "info",
    "novelty",
    "predict",
    "remove_class",
    "remove_from_index",
    "representation",
    "robustness",
    "search",
    "shift",
    "tradeoff",
    "tree",
    "two_sample",
]
