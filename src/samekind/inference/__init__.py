"""A trained space put to use: items in, answers out."""

from samekind.inference.cluster import Groups, cluster
from samekind.inference.embed import asking, device_of, embed, embed_files
from samekind.inference.search import Neighbours, search
from samekind.inference.settle import settle
from samekind.inference.verify import Trials, all_trials, allowed_false_accepts, calibrate, fit_decision

__all__ = [
    "Groups",
    "Neighbours",
    "Trials",
    "all_trials",
    "allowed_false_accepts",
    "asking",
    "calibrate",
    "cluster",
    "device_of",
    "embed",
    "embed_files",
    "fit_decision",
    "search",
    "settle",
]
