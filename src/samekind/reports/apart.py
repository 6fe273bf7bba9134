"""Boxes of words that overlap, moved until each can be read."""

import numpy as np

#: Rounds at most; what still overlaps then stays so.
MOST_ROUNDS = 200


def apart(boxes: np.ndarray, *, gap: float = 2.0) -> np.ndarray:
    """How far each box (left, bottom, right, top) has to be moved, (n, 2), so that no two overlap.

    Two that overlap are moved apart along the shorter way, repeatedly. A box that touches no other stays. Of
    two with the same middle, the later one goes up.
    """
    moves = np.zeros((len(boxes), 2))
    first, second = np.triu_indices(len(boxes), k=1)
    half = (boxes[:, 2:] - boxes[:, :2] + gap) / 2
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    for _ in range(MOST_ROUNDS):
        between = (middles + moves)[second] - (middles + moves)[first]
        overlap = half[first] + half[second] - np.abs(between)
        on_each_other = (overlap > 1e-6).all(1)
        if not on_each_other.any():
            break
        across = np.where(overlap[:, :1] < overlap[:, 1:], [[1.0, 0.0]], [[0.0, 1.0]])
        step = np.where(between < 0, -overlap, overlap) * across * on_each_other[:, None] / 2
        np.add.at(moves, second, step)
        np.add.at(moves, first, -step)
    return moves
