"""Random numbers of a batch, drawn on the CPU: the same for every device, without waiting for one."""

import torch
from torch import Tensor


def uniform(count: int, low: float, high: float, *, generator: torch.Generator) -> Tensor:
    """``count`` numbers from [low, high), as float64; ``low`` if the two are equal."""
    return low + (high - low) * torch.rand(count, dtype=torch.float64, generator=generator)


def chosen(count: int, probability: float, *, generator: torch.Generator) -> Tensor:
    """Which of ``count`` items are changed, a boolean (count,): none at probability 0, all at 1."""
    return torch.rand(count, dtype=torch.float64, generator=generator) < probability


def per_item(values: Tensor, x: Tensor) -> Tensor:
    """Numbers (n,) in the shape (n, 1, …) that broadcasts with items ``x`` (n, …), on their device."""
    return values.to(x.device, x.dtype, non_blocking=True).reshape(-1, *[1] * (x.dim() - 1))


def noise_like(x: Tensor, *, generator: torch.Generator) -> Tensor:
    """Independent numbers in (0, 1), uniform over 256 levels: as fine as the pixels of an image file.

    One byte for each, eight from one draw, because a batch of images needs millions.
    """
    draws = torch.randint(-(2**63), 2**63 - 1, (-(-x.numel() // 8),), generator=generator)
    levels = draws.view(torch.uint8)[: x.numel()].to(x.device, non_blocking=True)
    return (levels.to(x.dtype) + 0.5).div_(256).reshape(x.shape)
