"""Images shifted by a few pixels, as is usual for small ones."""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.augmentations.limits import expect_images
from samekind.augmentations.warping import shifted
from samekind.errors import SettingError


class PadAndCrop:
    """A shift by up to ``padding`` whole pixels in each direction; pixels from outside are 0."""

    exact = True

    def __init__(self, *, padding: int = 4) -> None:
        if padding < 0:
            raise SettingError(f"padding: expected a whole number of pixels from 0 up, got {padding}")
        self.padding = padding

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        height, width = x.shape[-2:]
        top, left = self._draw(len(x), generator).to(x.device, non_blocking=True)
        windows = F.pad(x, [self.padding] * 4).unfold(2, height, 1).unfold(3, width, 1)
        return windows[torch.arange(len(x), device=x.device), :, top, left]

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        top, left = self._draw(len(x), generator).double()
        return shifted(self.padding - left, self.padding - top)

    def _draw(self, count: int, generator: torch.Generator) -> Tensor:
        """The top and left of the windows (2, count)."""
        return torch.randint(2 * self.padding + 1, (2, count), generator=generator)
