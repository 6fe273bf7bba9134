"""The width and height that a picture had before it was resized, as one more plane behind its colours.

So a picture with its size is still one tensor: 2 channels for a grey one, 4 for colours. The upper half of
the plane holds the height, the lower half the width, as bytes: 0 for 1 pixel, 255 for 65,535, in equal
steps of the logarithm, 4.4 % each. Its first and last row say the same after resizing and mirroring.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.decoding.size_plane import LONGEST

#: The side whose logarithm is counted as 0, in pixels.
USUAL = 100


def log_sides(planes: Tensor) -> Tensor:
    """The natural logarithms of width and height, in hundreds of pixels, of planes (n, rows, columns) whose
    bytes are floats in [0, 1]: (n, 2).
    """
    bytes_of_sides = torch.stack([planes[:, -1, 0], planes[:, 0, 0]], dim=1)
    return bytes_of_sides * math.log(LONGEST) - math.log(USUAL)


def without_size(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape (channels, height, width) of a picture without the plane of its size, if it has one.

    >>> without_size((4, 96, 96)), without_size((1, 96, 96))
    ((3, 96, 96), (1, 96, 96))
    """
    channels, *sides = shape
    return channels - (channels in (2, 4)), *sides


def colours_of(x: Tensor) -> Tensor:
    """Pictures (…, channels, height, width) without the plane of their size, if they have one."""
    return x.narrow(-3, 0, without_size(x.shape[-3:])[0])
