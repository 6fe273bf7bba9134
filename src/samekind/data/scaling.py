"""Bytes to numbers: pictures are kept as bytes, a quarter of the memory, and become numbers on the device."""

import torch
from torch import Tensor


def scaled(x: Tensor) -> Tensor:
    """uint8 (…) in 0 to 255 as float32 in 0 to 1; floats are taken as they are, and stay what they are.

    >>> scaled(torch.tensor([0, 51, 255], dtype=torch.uint8)).tolist()
    [0.0, 0.20000000298023224, 1.0]
    """
    return x.float().div_(255) if x.dtype == torch.uint8 else x
