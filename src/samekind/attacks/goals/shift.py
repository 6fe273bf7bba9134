"""How far can an item move in the space? The shift of its embedding as the goal of an attack."""

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.space import MetricSpace


class Shift:
    """The Euclidean distance of an attacked item's embedding from where it was: ``embeddings`` (items, d) of
    the clean items. With a ``kind`` of score, how little alike the two are by that score.

    There is one outcome, which is only raised: no shift is a success. At the clean item the slope is 0, so
    the attack has to begin at random, as `PGD` does.
    """

    target = None

    def __init__(self, space: MetricSpace, embeddings: Tensor, *, kind: Kind | None = None) -> None:
        self.model = space
        self.embeddings = embeddings
        self.truth = torch.zeros(len(embeddings), dtype=torch.long)
        self.kind = kind

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        z = self.model.embed(x)
        before = self.embeddings[items.to(self.embeddings.device)].to(z)
        if self.kind is None:
            distance: Tensor = torch.linalg.vector_norm(z - before, dim=1, keepdim=True)
            return distance
        return -self.model.score(before, z, kind=self.kind)[:, None]

    def value(self, outcomes: Tensor, truth: Tensor) -> Tensor:
        del truth
        return outcomes[:, 0]
