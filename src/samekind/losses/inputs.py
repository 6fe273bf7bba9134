"""Checks of what a loss is given: a mask of another shape would be broadcast without an error."""

import math

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.similarities.transforms import is_mapped


def check(scores: Tensor, positive: Tensor, negative: Tensor) -> None:
    """Scores must be a matrix; masks must be boolean and of its shape."""
    if scores.dim() != 2:
        raise ValueError(f"expected scores (anchors, candidates), got shape {tuple(scores.shape)}")
    for name, mask in (("positive", positive), ("negative", negative)):
        if mask.shape != scores.shape:
            shapes = f"{tuple(scores.shape)} and {tuple(mask.shape)}"
            raise ValueError(f"expected scores and {name} of one shape (anchors, candidates), got {shapes}")
        if mask.dtype != torch.bool:
            raise ValueError(f"expected a boolean {name}, got {mask.dtype}; use .bool()")
        if is_mapped(mask):
            raise ValueError(
                f"expected {name} to be the same for all scores that vmap maps over, as the masks decide "
                "what is computed, got one for each; map over the scores alone, in_dims=(0, None, None)"
            )


def check_smoothing(smoothing: float) -> None:
    """From 1 on the whole target would be moved away from the positive."""
    if not 0 <= smoothing < 1:
        raise SettingError(f"smoothing is a part of the target, from 0 up, below 1; got {smoothing}")


def check_positive(name: str, value: float) -> None:
    """A factor of the scores must be positive and finite."""
    if not (value > 0 and math.isfinite(value)):
        raise SettingError(f"{name} must be a positive number, got {value}")


def as_numbers(mask: Tensor, like: Tensor) -> Tensor:
    """1 where a mask is true and 0 where it is not, in the dtype of ``like``.

    By way of bytes: PyTorch converts them several times faster than booleans, and multiplies faster than it
    chooses by a mask.
    """
    return mask.view(torch.uint8).to(like.dtype)


def check_between(between: Tensor | None, scores: Tensor) -> Tensor:
    """The scores of candidates with each other. Raises ValueError if missing or of another shape."""
    expected = (scores.shape[1], scores.shape[1])
    if between is None:
        raise ValueError(
            f"expected between, the scores {expected} of candidates with each other, got None; "
            "score the candidates against themselves, with -inf where two are of one class"
        )
    if between.shape != expected:
        raise ValueError(
            f"expected between of shape {expected}, as there are {expected[0]} candidates, "
            f"got {tuple(between.shape)}"
        )
    return between
