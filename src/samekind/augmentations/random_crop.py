"""A square of each image, cut out anywhere and not resized."""

import torch
from torch import Tensor

from samekind.augmentations.limits import expect_images
from samekind.errors import DataError, SettingError


class RandomCrop:
    """A window of ``size`` x ``size`` pixels, at any whole pixel of the image: pictures read at 256 pixels
    are trained on at 224. None is seven eighths of the shorter side, which is the same. `Views` with
    ``middle`` shows the middle of that size in evaluation.
    """

    def __init__(self, *, size: int | None = None) -> None:
        if size is not None and size < 1:
            raise SettingError(f"size: expected 1 pixel or more; got {size}")
        self.size = size

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        height, width = x.shape[-2:]
        size = max(1, min(height, width) * 7 // 8) if self.size is None else self.size
        if min(height, width) < size:
            raise DataError(
                f"RandomCrop cuts {size} pixels out of each image, and these have {height} x {width}; "
                "read them larger (data.size), or set a smaller size"
            )
        top = torch.randint(height - size + 1, (len(x),), generator=generator)
        left = torch.randint(width - size + 1, (len(x),), generator=generator)
        windows = x.unfold(2, size, 1).unfold(3, size, 1)
        places = [numbers.to(x.device, non_blocking=True) for numbers in (top, left)]
        return windows[torch.arange(len(x), device=x.device), :, places[0], places[1]]
