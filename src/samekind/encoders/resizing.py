"""Pictures resized by two products with matrices: what `interpolate` with antialiasing is.

ONNX has an operation of its own for it, which PyTorch writes for one fixed number of pictures alone.
"""

import math

import torch
from torch import Tensor


def resizing_matrix(before: int, after: int) -> Tensor:
    """The matrix (after, before) that brings so many pixels in a row to so many others: each new one is the
    mean of the old ones under a triangle, which is wider than two pixels where the row becomes shorter.

    >>> resizing_matrix(2, 1).tolist()
    [[0.5, 0.5]]
    """
    step = before / after
    width = max(step, 1.0)
    rows = []
    for place in range(after):
        centre = step * (place + 0.5)
        first, last = max(int(centre - width + 0.5), 0), min(int(centre + width + 0.5), before)
        weights = [max(0.0, 1 - abs(pixel + 0.5 - centre) / width) for pixel in range(first, last)]
        total = math.fsum(weights)
        rows.append([0.0] * first + [weight / total for weight in weights] + [0.0] * (before - last))
    return torch.tensor(rows)


def resized_by_matrices(x: Tensor, size: int) -> Tensor:
    """Pictures (n, channels, height, width) with sides of ``size`` pixels."""
    down, across = resizing_matrix(x.shape[-2], size).to(x), resizing_matrix(x.shape[-1], size).to(x)
    return down @ x @ across.T
