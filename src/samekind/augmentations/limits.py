"""Checks of the settings and the input of augmentations."""

import math
from collections.abc import Sequence

from torch import Tensor

from samekind.errors import DataError, SettingError


def expect_images(x: Tensor) -> None:
    """Raise DataError for anything but floats (n, channels, height, width)."""
    if x.dim() != 4 or not x.is_floating_point():
        raise DataError(
            "images are augmented as floats (n, channels, height, width) in [0, 1]; "
            f"got {tuple(x.shape)} of {x.dtype}"
        )


def expect_vectors(x: Tensor) -> None:
    """Raise DataError for anything but floats (n, d)."""
    if x.dim() != 2 or not x.is_floating_point():
        raise DataError(f"vectors are augmented as floats (n, d); got {tuple(x.shape)} of {x.dtype}")


def expect_sounds(x: Tensor) -> None:
    """Raise DataError for anything but floats (n, 1, samples) or (n, coefficients, frames)."""
    if x.dim() != 3 or not x.is_floating_point():
        raise DataError(
            "sounds are augmented as floats (n, 1, samples), or as features (n, coefficients, frames); "
            f"got {tuple(x.shape)} of {x.dtype}"
        )


def expect_waveforms(x: Tensor) -> None:
    """Raise DataError for anything but floats (n, 1, samples)."""
    expect_sounds(x)
    if x.shape[1] != 1:
        raise DataError(
            "waveforms are augmented as floats (n, 1, samples), before they become features; "
            f"got {tuple(x.shape)} of {x.dtype}"
        )


def expect_within(name: str, value: float, low: float, high: float) -> None:
    """Raise SettingError for a setting outside [low, high], or NaN."""
    if not low <= value <= high or math.isinf(value):
        limit = f"from {low:g} up" if math.isinf(high) else f"from {low:g} to {high:g}"
        raise SettingError(f"{name}: expected a number {limit}, got {value}")


def expect_interval(name: str, values: Sequence[float], *, above: float = 0.0) -> None:
    """Raise SettingError for anything but two finite numbers above ``above``, the smaller first."""
    if len(values) != 2 or not above < values[0] <= values[1] < math.inf:
        raise SettingError(
            f"{name}: expected two numbers above {above:g}, the smaller first, got {list(values)}"
        )
