"""Vectors that stand for the known classes: (classes, k, d).

Prototypes are a module with ``classes``, ``vectors``, ``pooling``, ``assign(classes, vectors)`` and two
hooks that the training step calls without gradient: ``before_loss(z, y)`` and ``after_step(z, y)``. They
compute no score.
"""

from samekind.prototypes.classes import Prototypes, class_means, pool
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
    "class_means",
    "pool",
]
