"""Geometric changes of images: each is a 3 x 3 matrix, and any number of them is one resampling.

A matrix maps a place in the result to the place in the input that is shown there, both as (x, y, 1) in
pixels from the centre, x to the right and y down. Matrices are (n, 3, 3) float64 on the CPU. A followed by B
is ``A @ B``.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def turned(degrees: Tensor) -> Tensor:
    """The image rotated about its centre, anticlockwise."""
    angle = torch.deg2rad(degrees)
    return _matrices({(0, 0): angle.cos(), (0, 1): -angle.sin(), (1, 0): angle.sin(), (1, 1): angle.cos()})


def shifted(right: Tensor, down: Tensor) -> Tensor:
    """The image shifted by these numbers of pixels."""
    return _matrices({(0, 2): -right, (1, 2): -down})


def enlarged(across: Tensor, along: Tensor) -> Tensor:
    """The image stretched by these factors from its centre; -1 mirrors it."""
    return _matrices({(0, 0): 1 / across, (1, 1): 1 / along})


def slanted(across: Tensor, along: Tensor) -> Tensor:
    """A pixel moves right by ``across`` for each pixel down, then down by ``along`` for each pixel right."""
    return _matrices({(0, 1): -across}) @ _matrices({(1, 0): -along})


def warp(images: Tensor, matrices: Tensor, *, size: int | None = None) -> Tensor:
    """Images (n, channels, height, width) resampled by matrices (n, 3, 3), bilinearly; pixels from outside
    are 0. With ``size`` the whole result is shown in so many pixels along and across.
    """
    height, width = images.shape[-2:]
    rows, columns = (size, size) if size is not None else (height, width)
    # Places as `grid_sample` counts them, the image from -1 to 1. Not as a product of matrices, which a GPU
    # may compute with too few digits for a place in a large image.
    scaled = matrices / matrices.new_tensor([width / 2, height / 2, 1.0])[:, None]
    flat = bool((matrices[:, 2] == matrices.new_tensor([0.0, 0.0, 1.0])).all())
    inside = flat and _stay_inside(scaled, height, width)
    scaled = scaled.to(images.device, images.dtype, non_blocking=True)
    x = torch.arange(columns, device=images.device, dtype=images.dtype) + (0.5 - columns / 2)
    y = torch.arange(rows, device=images.device, dtype=images.dtype) + (0.5 - rows / 2)
    if size is not None:
        x, y = x * (width / size), y * (height / size)
    # One plane of places for x and one for y: many times as fast as pairs, and `grid_sample` reads it too.
    across = scaled[:, :, 0, None, None] * x  # (n, 3, 1, width)
    along = scaled[:, :, 1, None, None] * y[:, None] + scaled[:, :, 2, None, None]  # (n, 3, height, 1)
    places = across[:, :2] + along[:, :2]
    if not flat:
        places = places / (across[:, 2:] + along[:, 2:])
    # Not padding with zeros, which would darken a rim of half a pixel.
    pairs = places.permute(0, 2, 3, 1)
    warped = F.grid_sample(images, pairs, padding_mode="border", align_corners=False)
    return warped if inside else warped * (places.abs() <= 1 + 1e-6).all(1, keepdim=True)


def _stay_inside(scaled: Tensor, height: int, width: int) -> bool:
    """Whether matrices without perspective show nothing from outside, which their corners decide."""
    signs = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], dtype=scaled.dtype)
    corners = torch.cat([signs * signs.new_tensor([width / 2, height / 2]), signs.new_ones(4, 1)], dim=1)
    return bool((scaled[:, :2] @ corners.T).abs().max().item() <= 1 + 1e-9) if len(scaled) else True


def _matrices(entries: dict[tuple[int, int], Tensor]) -> Tensor:
    """Unit matrices in which these entries, each (n,), are replaced."""
    count = len(next(iter(entries.values())))
    matrices = torch.eye(3, dtype=torch.float64).repeat(count, 1, 1)
    for (row, column), values in entries.items():
        matrices[:, row, column] = values
    return matrices
