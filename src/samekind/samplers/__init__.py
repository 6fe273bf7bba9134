"""Which items meet in a batch.

A sampler is made from labels (n,), settings and a seed. ``batches(epoch)`` gives the int64 index
tensors of an epoch, on the CPU, and depends on nothing but the seed and the epoch, so the data order
needs no state to resume; ``len`` is the number of batches, the same in every epoch. `Episodes` are few-shot
tasks to train on; `episodes`, to evaluate by, takes a generator.
"""

from samekind.samplers.balanced import Balanced
from samekind.samplers.episodes import Episode, Episodes, Layout, episodes, episodes_at_once, stacked
from samekind.samplers.one_per_domain import OnePerDomain
from samekind.samplers.shuffled import Shuffled
from samekind.samplers.tuples import Tuples
from samekind.samplers.uniform_triplets import UniformTriplets

__all__ = [
    "SAMPLERS",
    "Balanced",
    "Episode",
    "Episodes",
    "Layout",
    "OnePerDomain",
    "Shuffled",
    "Tuples",
    "UniformTriplets",
    "episodes",
    "episodes_at_once",
    "stacked",
]

# The family a run chooses from.
SAMPLERS = ("Shuffled", "Balanced", "Tuples", "OnePerDomain", "UniformTriplets", "Episodes")
