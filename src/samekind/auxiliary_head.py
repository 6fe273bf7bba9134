"""The auxiliary head: a second way from embeddings to classes; and scores of classes, by any similarity."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.parts import build, describe
from samekind.prototypes import Prototypes, pool
from samekind.prototypes.classes import example_counts
from samekind.similarities import Similarity, score_all, score_enrolled
from samekind.similarities.blocks import counts_matter
from samekind.similarities.distances import unit_vectors


class AuxiliaryHead(nn.Module):
    """The dense output layer of the papers: a second way to the classes, with its own similarity and proxies.

    `Dot` with ``bias`` is a plain linear layer; `Cosine` with a scale is the head of the margin softmax.
    ``normalise`` puts the embedding on the sphere first; ``projection`` maps it to the head's own
    dimension.
    """

    def __init__(
        self,
        similarity: Similarity,
        prototypes: Prototypes,
        *,
        projection: nn.Module | None = None,
        normalise: bool = False,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.similarity = similarity
        self.prototypes = prototypes
        self.projection = projection
        self.normalise = normalise
        self.bias = bias
        self.offsets = nn.Parameter(torch.zeros(len(prototypes.classes))) if bias else None

    def project(self, z: Tensor) -> Tensor:
        """Embeddings as the head's similarity takes them."""
        if self.projection is not None:
            z = self.projection(z)
        return unit_vectors(z) if self.normalise else z

    def score_classes(self, z: Tensor) -> Tensor:
        """Scores of the head's classes: (n, d) -> (n, classes)."""
        return self.score_projected(self.project(z))

    def score_projected(self, projected: Tensor) -> Tensor:
        """The same of what `project` gave."""
        scores = class_scores(self.similarity, self.prototypes, projected)
        return scores if self.offsets is None else scores + self.offsets

    def ordered(self, logits: Tensor, z: Tensor, classes: Sequence[str]) -> Tensor:
        """Logits (n, classes) in which this head orders its own classes: the best of them by the head has the
        highest logit that one of them had, the others are as far below as the head says. Logits of other
        classes stay.
        """
        place_of = {name: place for place, name in enumerate(classes)}
        places = torch.tensor([place_of[name] for name in self.prototypes.classes], device=z.device)
        if len(places) < 2:
            return logits
        own = (self.similarity.scale() * self.score_classes(z)).to(logits)
        highest = logits[:, places].amax(1, keepdim=True)
        return logits.index_copy(1, places, own - own.amax(1, keepdim=True) + highest)

    def describe(self) -> dict[str, Any]:
        """The head as JSON has it."""
        return {
            "similarity": describe(self.similarity),
            "prototypes": describe(self.prototypes),
            "projection": describe(self.projection) if self.projection is not None else None,
            "normalise": self.normalise,
            "bias": self.bias,
        }

    @classmethod
    def build(cls, description: Mapping[str, Any]) -> Self:
        """The head that a description names, with fresh weights."""
        projection = description["projection"]
        for name in ("normalise", "bias"):
            if not isinstance(description[name], bool):
                raise SettingError(f"auxiliary: {name} must be true or false, got {description[name]!r}")
        return cls(
            build(description["similarity"], room="similarities"),
            build(description["prototypes"], room="prototypes"),
            projection=build(projection, room="encoders") if projection is not None else None,
            normalise=description["normalise"],
            bias=description["bias"],
        )

    def drop(self, name: str) -> None:
        """Forget a class, if the head knows it."""
        names = self.prototypes.classes
        if name not in names:
            return
        rows = [row for row, known in enumerate(names) if known != name]
        counts = [example_counts(self.prototypes)[row] for row in rows]
        self.prototypes.assign([names[row] for row in rows], self.prototypes.vectors[rows], counts)
        if self.offsets is not None:
            self.offsets = nn.Parameter(self.offsets.detach()[rows])


def class_scores(similarity: Similarity, prototypes: Prototypes, z: Tensor) -> Tensor:
    """How alike each item and each class are: (n, d) -> (n, classes)."""
    vectors = prototypes.vectors
    # With a gradient every pair is kept for the backward pass; without, memory stays within the budget.
    every = similarity.score_all if torch.is_grad_enabled() else partial(score_all, similarity)
    flat = vectors.flatten(0, 1)
    if counts_matter(similarity):
        counts = torch.tensor(example_counts(prototypes), device=z.device).repeat_interleave(vectors.shape[1])
        scores = score_enrolled(similarity, flat, z, counts).T
    else:
        # Where the order does not matter, the items go first: rows of scores are faster.
        scores = every(z, flat) if similarity.symmetric else every(flat, z).T
    if vectors.shape[1] == 1:
        return scores
    scores = scores.reshape(len(z), *vectors.shape[:2])
    return pool(scores, prototypes.pooling, temperature=prototypes.temperature)
