"""Corruptions of pictures in five severities, to test on, never to train with: another camera, on the spot.

Hendrycks and Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions and Perturbations",
ICLR 2019. The first severity and the contrasts are those of their CIFAR-10-C; the later noise, blur and JPEG
files are harder than theirs. Blur grows with the size of the picture.
"""

import io
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from samekind.augmentations.blur import blurred
from samekind.augmentations.limits import expect_images
from samekind.errors import SettingError, nearest

SEVERITIES = (1, 2, 3, 4, 5)
#: The strength of each severity: the deviation of the noise, that of the blur in pixels of a picture of 32,
#: the share of the contrast that is left, and the quality of the JPEG file.
NOISE = (0.04, 0.08, 0.12, 0.18, 0.26)
BLUR = (0.4, 0.6, 0.8, 1.0, 1.4)
CONTRAST = (0.75, 0.5, 0.4, 0.3, 0.15)
QUALITY = (80, 60, 40, 20, 10)


def corrupted(x: Tensor, corruption: str, severity: int, *, generator: torch.Generator) -> Tensor:
    """Pictures (n, channels, height, width) in [0, 1] with one of `CORRUPTIONS`, on their device."""
    expect_images(x)
    if corruption not in CORRUPTIONS:
        raise SettingError(f'there is no corruption "{corruption}"; {nearest(corruption, CORRUPTIONS)}')
    if severity not in SEVERITIES:
        raise SettingError(f"a severity is 1 to {len(SEVERITIES)}; got {severity}")
    return CORRUPTIONS[corruption](x, severity - 1, generator).clamp(0, 1)


def _noise(x: Tensor, level: int, generator: torch.Generator) -> Tensor:
    return x + NOISE[level] * torch.randn(x.shape, generator=generator).to(x)


def _blur(x: Tensor, level: int, _generator: torch.Generator) -> Tensor:
    return blurred(x, torch.full((len(x),), BLUR[level] * max(x.shape[-2:]) / 32, dtype=torch.float64))


def _contrast(x: Tensor, level: int, _generator: torch.Generator) -> Tensor:
    mean = x.mean((-2, -1), keepdim=True)
    return mean + CONTRAST[level] * (x - mean)


def _jpeg(x: Tensor, level: int, _generator: torch.Generator) -> Tensor:
    """Written as a JPEG file and read again; channels beyond grey or colour each by itself."""
    if x.shape[1] not in (1, 3):
        parts = [_jpeg(channel, level, _generator) for channel in torch.split(x, 1, dim=1)]
        return torch.cat(parts, dim=1)
    return torch.stack([_one_jpeg(picture, QUALITY[level]) for picture in x]).to(x)


def _one_jpeg(picture: Tensor, quality: int) -> Tensor:
    import numpy as np
    from PIL import Image

    levels = (picture.detach().cpu() * 255).round().to(torch.uint8).permute(1, 2, 0).squeeze(-1).numpy()
    file = io.BytesIO()
    Image.fromarray(levels).save(file, format="JPEG", quality=quality)
    read = torch.from_numpy(np.array(Image.open(file))).float().div(255)
    return read.reshape(*picture.shape[1:], -1).permute(2, 0, 1)


#: Pictures, the severity from 0 and a generator to corrupted pictures, by name.
CORRUPTIONS: Mapping[str, Callable[[Tensor, int, torch.Generator], Tensor]] = MappingProxyType(
    {"noise": _noise, "blur": _blur, "contrast": _contrast, "jpeg": _jpeg}
)
