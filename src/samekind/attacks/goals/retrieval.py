"""What is most like this? The rank of a query's own class in a gallery as the goal of an attack."""

import torch
from torch import Tensor

from samekind.attacks.objectives import Objective, margin
from samekind.decisions import Kind
from samekind.errors import DataError
from samekind.space import MetricSpace


class Retrieval:
    """Attacked queries against a ``gallery`` of embeddings (m, d) with their ``gallery_labels`` (m,).

    The attack succeeds where ``rank`` gallery items of other classes come before the first one of the query's
    own class, ``labels`` (items,): with rank 1 the nearest is of another class, which Recall@1 counts, and
    with rank k none of the k nearest is of the own class. ``own`` (items,) is the place of the query itself
    in the gallery, which is left out; -1 for a query that is not there. Raises DataError where there are too
    few items of other classes.

    The outcomes are the best score of the own class (0) and the score of the other item at that rank (1). A
    query without an item of its class in the gallery is wrong as it is.
    """

    target = None

    def __init__(
        self,
        space: MetricSpace,
        gallery: Tensor,
        gallery_labels: Tensor,
        labels: Tensor,
        *,
        own: Tensor | None = None,
        rank: int = 1,
        kind: Kind | None = None,
        objective: Objective = margin,
    ) -> None:
        self.model = space
        self.gallery = gallery
        self.same = labels.cpu()[:, None] == gallery_labels.cpu()
        self.own = torch.full((len(labels),), -1) if own is None else own.cpu()
        self.truth = torch.zeros(len(labels), dtype=torch.long)
        self.rank = rank
        self.kind: Kind = kind or space.kind_for("neighbours")
        self.objective = self.value = objective
        fewest = int((~self.same).sum(1).min()) if len(labels) else rank
        if not 1 <= rank <= fewest:
            raise DataError(
                f"expected a rank from 1 to {fewest}, the fewest gallery items of other classes, got {rank}"
            )

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """The best score of the own class, and that of the ``rank``-th other item."""
        rows = items.cpu()
        z = self.model.embed(x)
        scores = self.model.score_all(z, self.gallery.to(z), kind=self.kind)
        same = self.same[rows].to(z.device)
        itself = torch.arange(len(self.gallery)) == self.own[rows, None]
        right = scores.masked_fill(~same | itself.to(z.device), -torch.inf).amax(1)
        others = scores.masked_fill(same, -torch.inf).topk(self.rank, dim=1).values[:, -1]
        return torch.stack([right, others], dim=1)
