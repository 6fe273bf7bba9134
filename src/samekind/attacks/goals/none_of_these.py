"""Is it none of these? The answer of an open set as the goal of an attack: evaded, or provoked."""

import torch
from torch import Tensor

from samekind.attacks.objectives import Objective, margin
from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.space import MetricSpace

#: "None of these", as a truth or a target.
NONE = -1


class NoneOfThese:
    """The classes of a space and one outcome more, "none of these": what `identify` answers.

    ``truth`` (items,) are places in ``space.classes``, or `NONE` for an item of an unknown class. An attack
    on an unknown item *evades* the answer: it becomes any of the known classes. One on a known item makes it
    another class or none; with the ``target`` `NONE` it *provokes* the answer. ``kind`` is the kind of score
    that names the class; None is the space's choice. Raises SpaceError where the space has no threshold for
    none of these.

    The best class has the outcome score - threshold, by the kind of score of that threshold; the other
    classes are below it by their log-probabilities, and none has 0.
    """

    def __init__(
        self,
        space: MetricSpace,
        truth: Tensor,
        *,
        target: Tensor | None = None,
        kind: Kind | None = None,
        objective: Objective = margin,
    ) -> None:
        if space.open_set is None:
            raise SpaceError(
                "this space has no threshold for none of these; fit one first: samekind calibrate"
            )
        self.model = space
        self.decision = space.open_set
        self.truth = _placed(truth, len(space.classes))
        self.target = None if target is None else _placed(target, len(space.classes))
        self.kind = kind
        self.objective = self.value = objective

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """One for every class, and 0 for none (n, classes + 1)."""
        del items
        z = self.model.embed(x)
        best = self.model.score_classes(z, kind=self.decision.kind).amax(1, keepdim=True)
        classes = self.model.log_probabilities(z, kind=self.kind)
        known = best - self.decision.threshold + (classes - classes.amax(1, keepdim=True))
        return torch.cat([known, torch.zeros_like(best)], dim=1)


def _placed(truth: Tensor, classes: int) -> Tensor:
    """Places among the outcomes: none comes after the classes."""
    return torch.where(truth == NONE, classes, truth)
