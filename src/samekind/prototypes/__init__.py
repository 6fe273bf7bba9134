"""Vectors that stand for the known classes: (classes, k, d).

Prototypes are a module. They compute no score.

- ``classes``: the names; ``vectors``: (classes, k, d); ``counts``: how many examples a vector of each class
  is the mean of, 0 for many or unknown; ``assign(classes, vectors, counts)`` replaces all;
- ``pooling``: how k scores become one: mean, max or soft;
- ``trained``: whether training moves them; others are filled from examples afterwards;
- ``needs_term``: whether only a term against them brings them and the embeddings together;
- ``before_loss(z, y)``, ``after_step(z, y)``: hooks that `training.step` calls, without gradient.
"""

from samekind.prototypes.classes import Prototypes, by_examples, class_means, from_examples, pool
from samekind.prototypes.ema_proxies import EMAProxies
from samekind.prototypes.fixed_proxies import FixedProxies
from samekind.prototypes.learned_proxies import LearnedProxies
from samekind.prototypes.running_averages import RunningAverages
from samekind.prototypes.support_means import SupportMeans

#: The prototypes a space can be built with.
PROTOTYPES = ("EMAProxies", "FixedProxies", "LearnedProxies", "RunningAverages", "SupportMeans")

__all__ = [
    "PROTOTYPES",
    "EMAProxies",
    "FixedProxies",
    "LearnedProxies",
    "Prototypes",
    "RunningAverages",
    "SupportMeans",
    "by_examples",
    "class_means",
    "from_examples",
    "pool",
]
