"""The kinds of score of an exported space: every a against every b, in blocks of bounded memory."""

import math
from dataclasses import dataclass

import numpy as np

from samekind.plain_files import Array
from samekind.portable.sessions import MEMORY_BUDGET, Session


@dataclass(frozen=True)
class Score:
    """The map of embeddings to vectors, the graph of pairs, or both; see `samekind.exporting.scores`."""

    map: Session | None
    pairs: Session | None
    counted: bool
    pair_bytes: int
    scale: float

    def first(self, z: Array, counts: Array | None = None) -> Array:
        """Embeddings (n, d) as vectors of the first side, means of ``counts`` items (0: unlimited)."""
        return self._mapped(z, "first", counts)

    def second(self, z: Array) -> Array:
        """Embeddings (n, d) as vectors of the second side."""
        return self._mapped(z, "second", None)

    def between(self, first: Array, second: Array) -> Array:
        """The scores (n, m) of vectors of both sides."""
        if self.pairs is None:
            return np.asarray(first @ second.T)
        scores = np.empty((len(first), len(second)), dtype=np.float32)
        pairs = max(1, MEMORY_BUDGET // self.pair_bytes)
        width = max(1, min(len(second), pairs))
        height = max(1, min(len(first), pairs // width))
        for top in range(0, len(first), height):
            for left in range(0, len(second), width):
                rows, columns = slice(top, top + height), slice(left, left + width)
                scores[rows, columns] = self.pairs.run(first[rows], second[columns])
        return scores

    def _mapped(self, z: Array, side: str, counts: Array | None) -> Array:
        z = np.ascontiguousarray(z, dtype=np.float32)
        if self.map is None:
            return z
        if not self.counted:
            return self.map.run(z, output=side)
        return self.map.run(z, np.ones(len(z), np.int64) if counts is None else counts, output=side)


def pooled(scores: Array, how: str, temperature: float) -> Array:
    """Scores of k vectors a class, (n, classes, k), to one a class, (n, classes); see `prototypes.pool`."""
    match how:
        case "mean":
            return np.asarray(scores.mean(-1))
        case "max":
            return np.asarray(scores.max(-1))
        case "soft":
            return np.asarray((softmax(scores / temperature) * scores).sum(-1))
    highest = scores.max(-1, keepdims=True)
    summed = np.log(np.exp((scores - highest) / temperature).sum(-1))
    return np.asarray(temperature * summed + highest[..., 0])


def softmax(logits: Array) -> Array:
    """The softmax over the last axis, in float64."""
    logits = logits.astype(np.float64)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def sigmoid(log_odds: float) -> float:
    """The probability of these odds, without overflow."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    power = math.exp(log_odds)
    return power / (1 + power)
