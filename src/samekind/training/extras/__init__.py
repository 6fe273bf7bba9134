"""Extras train or watch beside the terms of the loss. The training loop knows no member, only their list.

A new extra is one file with a module that keeps the contract of `Extra`, and its function in `BUILDERS`.
"""

from collections.abc import Callable

from samekind.data import Items
from samekind.space import MetricSpace
from samekind.training.extras.class_adversary import build_class_adversary
from samekind.training.extras.defence import build_defence
from samekind.training.extras.dynamics import build_dynamics
from samekind.training.extras.extra import Cost, Extra, Step, parameter_groups_of
from samekind.training.run import Run

__all__ = ["BUILDERS", "Cost", "Extra", "Step", "build_extras", "parameter_groups_of"]

#: Each builds an extra of a run, or returns None where the run has none of its kind.
BUILDERS: list[Callable[[Run, MetricSpace, Items], Extra | None]] = [
    build_class_adversary,
    build_defence,
    build_dynamics,
]


def build_extras(run: Run, space: MetricSpace, items: Items) -> list[Extra]:
    """The extras of a run. Fresh weights come from the global random state."""
    built = (build(run, space, items) for build in BUILDERS)
    return [extra for extra in built if extra is not None]
