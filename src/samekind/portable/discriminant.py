"""The classifier of the classes that a space was trained on, in an exported space."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samekind.plain_files import Array


@dataclass(frozen=True)
class Discriminant:
    """A linear layer on embeddings of length 1: a row of weights (classes, d + 1) for each name, the offset
    last. A row gives logits. See `samekind.inference.discriminant`.
    """

    names: tuple[str, ...]
    weights: Array

    def ordered(self, logits: Array, z: Array, classes: Sequence[str]) -> Array:
        """Logits (n, classes) in which these classes are ordered by the layer: the best of them has the
        highest logit that one of them had, and the others are as far below as the layer says.
        """
        if len(self.names) < 2:
            return logits
        places = [classes.index(name) for name in self.names]
        lengths = np.linalg.norm(z.astype(np.float64), axis=1, keepdims=True)
        own = z / np.where(lengths > 0, lengths, 1) @ self.weights[:, :-1].T + self.weights[:, -1]
        ordered = logits.copy()
        ordered[:, places] = own - own.max(1, keepdims=True) + logits[:, places].max(1, keepdims=True)
        return ordered

    def renamed(self, old: str, new: str) -> "Discriminant":
        """With another name for a class."""
        return Discriminant(tuple(new if name == old else name for name in self.names), self.weights)

    def without(self, name: str) -> "Discriminant":
        """Without one class, because it was deleted or has other examples now."""
        rows = [row for row, known in enumerate(self.names) if known != name]
        return Discriminant(tuple(self.names[row] for row in rows), self.weights[rows])
