"""Checks of tensors that several measures share."""

import torch
from torch import Tensor


def check_labels(labels: Tensor, truth: Tensor, *, name: str) -> None:
    """Raise ValueError unless both are (n,) whole numbers, n above 0. ``name`` is the name of ``labels``."""
    if labels.ndim != 1 or labels.shape != truth.shape:
        shapes = f"{tuple(labels.shape)} and {tuple(truth.shape)}"
        advice = "; of scores, take .argmax(1)" if labels.ndim == 2 else ""
        raise ValueError(f"expected {name} and truth of one shape (n,), got {shapes}{advice}")
    if len(truth) == 0:
        raise ValueError(f"expected at least one item, got empty {name} and truth")
    for values, role in ((labels, name), (truth, "truth")):
        if values.is_floating_point() or values.is_complex():
            raise ValueError(f"expected whole numbers in {role}, got {values.dtype}")


def check_trials(scores: Tensor, same: Tensor) -> None:
    """Raise ValueError unless both are (trials,) and ``same`` is boolean."""
    if scores.ndim != 1 or scores.shape != same.shape:
        shapes = f"{tuple(scores.shape)} and {tuple(same.shape)}"
        raise ValueError(f"expected scores and same of one shape (trials,), got {shapes}")
    check_boolean(same)


def check_boolean(same: Tensor) -> None:
    """Raise ValueError unless ``same`` is boolean."""
    if same.dtype != torch.bool:
        raise ValueError(f"expected a boolean same, got {same.dtype}; compare the two labels, or use .bool()")


def check_neighbours(neighbours: Tensor, labels: Tensor) -> None:
    """Raise ValueError unless the shapes are (queries, ranks) and (queries,)."""
    if neighbours.ndim != 2 or labels.ndim != 1 or len(neighbours) != len(labels):
        shapes = f"{tuple(neighbours.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"expected neighbours (queries, ranks) and labels (queries,), got {shapes}")


def check_replicates(replicates: int) -> None:
    """Raise ValueError for too few replicates of a bootstrap."""
    if replicates < 2:
        raise ValueError(f"expected two replicates or more to estimate a spread, got {replicates}")


def check_finite(values: Tensor, name: str) -> None:
    """Raise ValueError if some values, of any shape, are NaN or infinite."""
    if not values.isfinite().all():
        broken = int((~values.isfinite()).sum())
        raise ValueError(f"expected finite {name}, got {broken} of {values.numel()} that are NaN or infinite")
