"""Changes of tones for RandAugment: images (n, channels, height, width) in [0, 1] to the same.

They compute what Pillow's ImageOps and ImageEnhance do, those with levels on the 256 of an image file.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.augmentations.draws import per_item


def posterised(images: Tensor, bits: int) -> Tensor:
    """Only the first ``bits`` of the 8 of each pixel; with 8, rounded as in an image file."""
    step: int = 2 ** (8 - bits)
    levels = torch.floor((images * 255).round_() / step)
    return levels * (step / 255)


def solarised(images: Tensor, threshold: float) -> Tensor:
    """Pixels from ``threshold`` up inverted."""
    return torch.where(images >= threshold, 1 - images, images)


def stretched(images: Tensor) -> Tensor:
    """Each channel of each image stretched to [0, 1] (autocontrast); a uniform one stays unchanged."""
    darkest, brightest = images.amin((-2, -1), keepdim=True), images.amax((-2, -1), keepdim=True)
    even = brightest <= darkest
    spread = torch.where(even, 1, brightest - darkest)
    return ((images - torch.where(even, 0, darkest)) / spread).clamp_(0, 1)


def equalised(images: Tensor) -> Tensor:
    """Each channel of each image with a flat histogram."""
    levels = (images * 255).round().long().flatten(2)  # (n, channels, pixels)
    counts = levels.new_zeros(*levels.shape[:2], 256).scatter_add_(2, levels, torch.ones_like(levels))
    # As in Pillow: pixels of the brightest tone are not counted, and the new level of a tone is by the number
    # of darker pixels.
    last = counts.gather(2, levels.amax(2, keepdim=True))
    step = (levels.shape[2] - last) // 255
    darker = counts.cumsum(2) - counts
    table = ((darker + step // 2) // step.clamp(min=1)).clamp(max=255)
    table = torch.where(step > 0, table, torch.arange(256, device=images.device))
    return (table.gather(2, levels).to(images.dtype) / 255).reshape(images.shape)


def sharpened(images: Tensor, factors: Tensor) -> Tensor:
    """Smooth at a factor (n,) of 0, unchanged at 1, sharper above; the outermost pixels stay."""
    channels, height, width = images.shape[1:]
    if min(height, width) < 3:
        return images
    kernel = torch.tensor([[1, 1, 1], [1, 5, 1], [1, 1, 1]], dtype=images.dtype) / 13
    kernel = kernel.to(images.device, non_blocking=True)
    smooth = F.conv2d(images, kernel.expand(channels, 1, 3, 3), groups=channels)
    inner = images[..., 1:-1, 1:-1]
    changed = images.clone()
    changed[..., 1:-1, 1:-1] = torch.lerp(smooth, inner, per_item(factors, inner)).clamp(0, 1)
    return changed
