"""Are these two the same kind? A trial as the goal of an attack: accepted or rejected wrongly."""

import torch
from torch import Tensor

from samekind.attacks.objectives import Objective, margin
from samekind.decisions import Decision, Kind
from samekind.errors import SpaceError, nearest
from samekind.similarities.blocks import Side
from samekind.space import MetricSpace

ACCEPT, REJECT = 0, 1


class Trials:
    """Trials of attacked items against ``partners`` (items, d), which are embeddings and stay as they are.

    The outcomes are accept (0) and reject (1): the score less the threshold of the space's decision for this
    ``kind`` of score, and 0. What is right is accept where the two are the ``same`` (items,): so an attack on
    a trial of one class lowers its score until it is rejected, and one on a trial of two classes is an
    impostor who raises it. ``attacked`` is the item's place in the similarity: by default the partner is the
    enrolment, which comes first. Raises SpaceError where the space has no threshold for the kind.
    """

    target = None

    def __init__(
        self,
        space: MetricSpace,
        partners: Tensor,
        same: Tensor,
        *,
        kind: Kind | None = None,
        attacked: Side = "second",
        objective: Objective = margin,
    ) -> None:
        self.model = space
        self.partners = partners
        self.truth = torch.where(same.bool(), ACCEPT, REJECT)
        self.decision = decision_of(space, kind)
        self.attacked = attacked
        self.objective = self.value = objective

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """The score less the threshold, and 0: at the threshold a trial is accepted."""
        z = self.model.embed(x)
        partners = self.partners.to(z)[items.to(self.partners.device)]
        first, second = (z, partners) if self.attacked == "first" else (partners, z)
        return verdicts(self.model.score(first, second, kind=self.decision.kind) - self.decision.threshold)


def verdicts(above: Tensor) -> Tensor:
    """The outcomes accept and reject (n, 2) from by how much a score is above its threshold (n,)."""
    return torch.stack([above, torch.zeros_like(above)], dim=1)


def decision_of(space: MetricSpace, kind: Kind | None) -> Decision:
    """The decision of a space for a kind of score; None is its choice for pairs. Raises SpaceError."""
    kind = kind or space.kind_for("pairs")
    decision = space.decisions.get(kind)
    if decision is None:
        raise SpaceError(
            f'this space has no threshold for the score "{kind}"; {nearest(kind, space.decisions)}. '
            "Fit one first: samekind calibrate"
        )
    return decision
