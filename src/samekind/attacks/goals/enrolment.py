"""A poisoned prototype: the examples of a class are attacked before they are enrolled, and later queries are
answered wrongly.
"""

import torch
from torch import Tensor

from samekind.attacks.goals.trial import ACCEPT, REJECT, decision_of, verdicts
from samekind.attacks.objectives import Objective, margin
from samekind.decisions import Kind
from samekind.similarities.blocks import counts_matter
from samekind.space import MetricSpace


class Enrolments:
    """Attacked sets of examples, (sets, k, …), each enrolled as the mean of its k embeddings, against later
    ``queries``: embeddings (sets, m, d), which stay as they are.

    The outcomes are accept (0) and reject (1) of the mean query: its score less its bar, and 0. What is right
    is accept where the queries are of the ``same`` class (sets,) as the examples, and reject where they are
    of another one: the first makes the enrolled class useless, the second opens it to a stranger. The
    ``bars`` (sets, m) are the threshold of the space's decision for this ``kind`` of score, or any scores to
    be reached, such as those of the classes that are known already, see `known_bars`.

    A set is one item of the attack: a region limits the change of all its examples together in L1 and L2, and
    of every one in Linf.
    """

    target = None

    def __init__(
        self,
        space: MetricSpace,
        queries: Tensor,
        same: Tensor,
        *,
        bars: Tensor | None = None,
        kind: Kind | None = None,
        objective: Objective = margin,
    ) -> None:
        self.model = space
        self.queries = queries
        self.truth = torch.where(same.bool(), ACCEPT, REJECT)
        if bars is None:
            decision = decision_of(space, kind)
            bars, kind = torch.full(queries.shape[:2], decision.threshold), decision.kind
        self.bars = bars
        self.kind: Kind = kind or space.kind_for("classes")
        self.objective = self.value = objective

    def above(self, x: Tensor, items: Tensor) -> Tensor:
        """By how much every query (n, m) is above its bar, once the examples (n, k, …) are enrolled."""
        z = self.model.embed(x.flatten(0, 1))
        means = z.reshape(*x.shape[:2], z.shape[1]).mean(1, keepdim=True)
        queries = self.queries[items.to(self.queries.device)].to(z)
        bars = self.bars[items.to(self.bars.device)].to(z)
        if not counts_matter(self.model.scorer(self.kind)):
            pairs = means.expand_as(queries).flatten(0, 1), queries.flatten(0, 1)
            return self.model.score(*pairs, kind=self.kind).reshape(bars.shape) - bars
        count = torch.tensor([x.shape[1]], device=z.device)
        scores = [
            self.model.score_enrolled(mean, own, count, kind=self.kind)[0]
            for mean, own in zip(means, queries, strict=True)
        ]
        return torch.stack(scores) - bars if scores else bars

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """The mean of `above`, and 0."""
        return verdicts(self.above(x, items).mean(1))


def known_bars(space: MetricSpace, queries: Tensor, *, kind: Kind | None = None) -> Tensor:
    """What a new class must score (sets, m) to be named for queries (sets, m, d): as much as the best class
    that the space knows, less the bonus of enrolled classes.
    """
    kind = kind or space.kind_for("classes")
    bonus = space.balances[kind].bonus if kind in space.balances else 0.0
    with torch.no_grad():
        scores = space.score_classes(queries.flatten(0, 1), kind=kind)
        scores = scores + space.bonuses(kind).to(scores) - bonus
    return scores.amax(1).reshape(queries.shape[:2])
