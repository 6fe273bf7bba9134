"""An encoder whose input is standardised first."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from samekind.encoders.wrapping import around_encoder
from samekind.errors import DataError, SettingError


@around_encoder
class Standardised(nn.Module):
    """(x - mean) / deviation, and then the encoder: items as they are stored to embeddings (n, dimension).

    ``means`` and ``deviations`` have one number for each feature of vectors (n, d), or for each channel of
    images (n, channels, height, width). They are buffers: saved and loaded with the weights, not trained.
    What the encoder inside does not have (stages, attention), this one does not have either.
    """

    encoder: Any  # any module with a dimension
    centre: Tensor
    spread: Tensor

    def __init__(self, *, encoder: nn.Module, means: Sequence[float], deviations: Sequence[float]) -> None:
        super().__init__()
        if len(means) != len(deviations) or not means:
            raise SettingError(
                f"expected as many means as deviations, one or more; got {len(means)} and {len(deviations)}"
            )
        centre, spread = torch.tensor(means), torch.tensor(deviations)
        if not (centre.isfinite().all() and spread.isfinite().all() and (spread > 0).all()):
            raise SettingError("expected finite means, and deviations above 0; a constant feature has 1")
        self.encoder = encoder
        self.register_buffer("centre", centre.float())
        self.register_buffer("spread", spread.float())

    @property
    def means(self) -> list[float]:
        """The numbers that are subtracted from each feature or channel."""
        return self.centre.tolist()

    @property
    def deviations(self) -> list[float]:
        """The numbers that each is then divided by."""
        return self.spread.tolist()

    @property
    def attention(self) -> Callable[[Tensor], dict[str, Tensor]]:
        attention = self.encoder.attention
        return lambda x: attention(self.standardise(x))

    def standardise(self, x: Tensor) -> Tensor:
        """Items as the encoder inside gets them."""
        count = len(self.centre)
        if x.dim() < 2 or x.shape[1] != count:
            raise DataError(
                f"the encoder takes items with {count} features or channels, (n, {count}, …), as it was "
                f"trained with; got {tuple(x.shape)}"
            )
        shape = (count, *[1] * (x.dim() - 2))
        return (x - self.centre.reshape(shape)) / self.spread.reshape(shape)

    def features(self, x: Tensor) -> Tensor:
        features: Tensor = self.encoder.features(self.standardise(x))
        return features

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        maps: dict[str, Tensor] = self.encoder.maps(self.standardise(x))
        return maps

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.encoder(self.standardise(x))
        return embeddings
