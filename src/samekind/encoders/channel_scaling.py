"""Images as a pretrained network expects them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from samekind.errors import SettingError


class ChannelScaling(nn.Module):
    """(x - mean) / deviation for each channel of images (n, channels, height, width); kept with the weights.

    One grey channel becomes as many as there are means, all from the same values.

    >>> ChannelScaling([0.5], [0.25])(torch.ones(1, 1, 1, 1)).item()
    2.0
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, means: Sequence[float], deviations: Sequence[float]) -> None:
        super().__init__()
        if len(means) != len(deviations) or not means or min(deviations) <= 0:
            raise SettingError(
                "expected as many means as deviations, one for each channel, and deviations above 0; "
                f"got {list(means)} and {list(deviations)}"
            )
        self.register_buffer("mean", torch.tensor(means)[:, None, None])
        self.register_buffer("deviation", torch.tensor(deviations)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.deviation
