"""A trained space put to use: items in, answers out."""

from samekind.inference.axioms import metric_axioms, score_distances
from samekind.inference.cluster import (
    GroupChoice,
    Groups,
    as_compared,
    assign_by_similarity,
    choose_groups,
    cluster,
    oracle_centres,
)
from samekind.inference.cohort import cohort_scores, normalised_listed_scores, normalised_trials
from samekind.inference.directions import (
    PrincipalDirections,
    principal_directions,
    residual_features,
    reweighted,
)
from samekind.inference.distil import QueryMap, distil
from samekind.inference.embed import asking, device_of, embed, embed_files
from samekind.inference.enrolment import enrolment_scores, listed_scores
from samekind.inference.grad_cam import grad_cam, layer_of
from samekind.inference.kernels import SemidefiniteKernel, kernel_blocks, kernel_matrix, semidefinite
from samekind.inference.kmeans import Grouping, kmeans
from samekind.inference.novelty import neighbour_novelty, one_class_novelty, prototype_novelty
from samekind.inference.open_set import Named, divided, fit_open_set, identify
from samekind.inference.points import OperatingPoint, operating_point, support
from samekind.inference.promise import Kept, Promise, kept, kept_open_set
from samekind.inference.relations import Joined, class_scores, class_tree
from samekind.inference.representatives import centre_distances, largest_first, representatives
from samekind.inference.search import Neighbours, search
from samekind.inference.settle import settle
from samekind.inference.shortlist import Shortlist, search_index, shortlist_of
from samekind.inference.shortlist_fitting import fit_shortlist
from samekind.inference.standings import standings
from samekind.inference.temperatures import fit_temperatures, heads
from samekind.inference.trials import Trials, all_trials, streamed_trials, walk_trials
from samekind.inference.two_sample import two_sample
from samekind.inference.verify import fit_decision

__all__ = [
    "GroupChoice",
    "Grouping",
    "Groups",
    "Joined",
    "Kept",
    "Named",
    "Neighbours",
    "OperatingPoint",
    "PrincipalDirections",
    "Promise",
    "QueryMap",
    "SemidefiniteKernel",
    "Shortlist",
    "Trials",
    "all_trials",
    "as_compared",
    "asking",
    "assign_by_similarity",
    "centre_distances",
    "choose_groups",
    "class_scores",
    "class_tree",
    "cluster",
    "cohort_scores",
    "device_of",
    "distil",
    "divided",
    "embed",
    "embed_files",
    "enrolment_scores",
    "fit_decision",
    "fit_open_set",
    "fit_shortlist",
    "fit_temperatures",
    "grad_cam",
    "heads",
    "identify",
    "kept",
    "kept_open_set",
    "kernel_blocks",
    "kernel_matrix",
    "kmeans",
    "largest_first",
    "layer_of",
    "listed_scores",
    "metric_axioms",
    "neighbour_novelty",
    "normalised_listed_scores",
    "normalised_trials",
    "one_class_novelty",
    "operating_point",
    "oracle_centres",
    "principal_directions",
    "prototype_novelty",
    "representatives",
    "residual_features",
    "reweighted",
    "score_distances",
    "search",
    "search_index",
    "semidefinite",
    "settle",
    "shortlist_of",
    "standings",
    "streamed_trials",
    "support",
    "two_sample",
    "walk_trials",
]
