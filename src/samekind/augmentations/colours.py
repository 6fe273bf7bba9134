"""Brightness, contrast, saturation and hue of images, an amount for each image.

Images are (n, channels, height, width) in [0, 1], amounts (n,). The first three are linear in the colour of
a pixel, so any number of them is one matrix for each image, and one pass over the pixels.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

#: How bright red, green and blue look (ITU-R BT.601).
LUMA = (0.299, 0.587, 0.114)

Change = tuple[Literal["brightness", "contrast", "saturation"], Tensor]


def grey(images: Tensor) -> Tensor:
    """The brightness of every pixel, (n, 1, height, width); the mean of the channels unless there are 3."""
    if images.shape[1] != 3:
        return images.mean(1, keepdim=True)
    red, green, blue = images.unbind(1)
    return (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])[:, None]


def recoloured(images: Tensor, changes: Sequence[Change]) -> Tensor:
    """Images after the changes, in their order, clipped to [0, 1] at the end.

    A factor (n,) of 1 changes nothing; at 0 brightness gives black, contrast a uniform grey of the image's
    mean brightness, and saturation shades of grey.
    """
    count, channels = images.shape[:2]
    luma = torch.tensor(LUMA if channels == 3 else [1 / channels] * channels, dtype=images.dtype)
    luma = luma.to(images.device, non_blocking=True)
    same = torch.eye(channels, dtype=images.dtype, device=images.device)
    matrix, offset = same.expand(count, -1, -1), images.new_zeros(count, channels, 1)
    means = images.mean((-2, -1))[..., None] if any(name == "contrast" for name, _ in changes) else offset
    for name, amounts in changes:
        factors = amounts.to(images.device, images.dtype, non_blocking=True)[:, None, None]
        if name == "saturation":
            step = factors * same + (1 - factors) * luma.expand(channels, -1)
            matrix, offset = step @ matrix, step @ offset
            continue
        # Earlier changes have moved the mean.
        middle = luma @ (matrix @ means + offset) if name == "contrast" else offset.new_zeros(count, 1)
        matrix, offset = factors * matrix, factors * offset + (1 - factors) * middle[..., None]
    return torch.baddbmm(offset, matrix, images.flatten(2)).clamp_(0, 1).reshape(images.shape)


def hue_shifted(images: Tensor, turns: Tensor) -> Tensor:
    """Every colour moved along the colour circle by ``turns`` (n,); images without 3 channels have no hue."""
    if images.shape[1] != 3:
        return images
    red, green, blue = images.unbind(1)
    value, least = images.amax(1), images.amin(1)
    chroma = value - least
    divisor = torch.where(chroma > 0, chroma, 1)  # a grey pixel has no hue, so any will do
    hue = torch.where(
        value == red,
        (green - blue) / divisor,
        torch.where(value == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    hue = hue + 6 * turns.to(images.device, images.dtype, non_blocking=True)[:, None, None]
    # Each channel is the value, less the chroma where the hue is far from that channel's own colour.
    places = [(offset + hue) % 6 for offset in (5, 3, 1)]
    return torch.stack(
        [value - chroma * torch.minimum(place, 4 - place).clamp(0, 1) for place in places], dim=1
    )
