"""A trained space put to use: items in, answers out.

The functions that users call are here. Their parts, and the types of their answers, are in the modules.

- `embed` and `embed_files` do batches, device and mode; `MetricSpace.embed` is the encoder as it stands.
- Trials carry the classes of both sides, the unit of their intervals. More trials than memory holds are
  walked and counted (`trials.streamed_trials`): exactly in several walks, or in one walk with bounds.
- What is fitted here (thresholds, temperatures, standings, choices) is fitted on validation items, and kept
  in the space. So are similarities, whose settings are chosen on classes held out of the fit.
- The plain path is the reference. A GPU kernel is used only where it is asked for (``precision=…``).
"""

from samekind.inference.adapting import adapt
from samekind.inference.axioms import metric_axioms
from samekind.inference.choosing import choose
from samekind.inference.cluster import cluster
from samekind.inference.cohort import normalised_listed_scores, normalised_trials, with_cohort
from samekind.inference.compress import compress
from samekind.inference.distil import distil
from samekind.inference.embed import asking, device_of, embed, embed_files
from samekind.inference.features import feature_items, headed_space
from samekind.inference.fitting import fit_similarities
from samekind.inference.grad_cam import grad_cam
from samekind.inference.inner_nodes import fit_levels, identify_at
from samekind.inference.novelty import neighbour_novelty, one_class_novelty, prototype_novelty
from samekind.inference.open_set import fit_open_set, identify
from samekind.inference.promise import check_promise
from samekind.inference.relations import class_tree
from samekind.inference.reweight import reweight
from samekind.inference.search import search
from samekind.inference.settle import settle
from samekind.inference.shortlist import search_index
from samekind.inference.shortlist_fitting import fit_shortlist
from samekind.inference.sound_features import sound_features, write_sounds
from samekind.inference.temperatures import fit_temperatures
from samekind.inference.trials import all_trials, streamed_trials
from samekind.inference.two_sample import two_sample
from samekind.inference.verify import fit_decision

__all__ = [
    "adapt",
    "all_trials",
    "asking",
    "check_promise",
    "choose",
    "class_tree",
    "cluster",
    "compress",
    "device_of",
    "distil",
    "embed",
    "embed_files",
    "feature_items",
    "fit_decision",
    "fit_levels",
    "fit_open_set",
    "fit_shortlist",
    "fit_similarities",
    "fit_temperatures",
    "grad_cam",
    "headed_space",
    "identify",
    "identify_at",
    "metric_axioms",
    "neighbour_novelty",
    "normalised_listed_scores",
    "normalised_trials",
    "one_class_novelty",
    "prototype_novelty",
    "reweight",
    "search",
    "search_index",
    "settle",
    "sound_features",
    "streamed_trials",
    "two_sample",
    "with_cohort",
    "write_sounds",
]
