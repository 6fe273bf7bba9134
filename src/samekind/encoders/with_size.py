"""An encoder of pictures that also gets their original size."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from samekind.data.media.original_size import colours_of, log_sides
from samekind.encoders.wrapping import around_encoder
from samekind.errors import DataError


@around_encoder
class WithSize(nn.Module):
    """Pictures with the plane of their original size (n, 2 or 4, height, width) to the embeddings of the
    ``encoder``, which sees the colours alone, plus a linear map of the logarithms of width and height.

    The map is learned, and begins at 0: an untrained space is as without the size. Kim, "On the Significance
    of Distance in Machine Learning", 2023, paper IV, adds the same to embeddings of plankton.
    """

    encoder: Any

    def __init__(self, *, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.size = nn.Linear(2, self.encoder.dimension)
        nn.init.zeros_(self.size.weight)
        nn.init.zeros_(self.size.bias)

    @property
    def feature_dimension(self) -> int:
        """That of the encoder, and two for the size."""
        return int(self.encoder.feature_dimension) + 2

    @property
    def stages(self) -> Any:
        """The function that gives the encoder's stages, if any; the map of the size is in the last one."""
        stages = self.encoder.stages

        def with_size() -> dict[str, list[nn.Module]]:
            named: dict[str, list[nn.Module]] = stages()
            return {**named, "embedding": [*named["embedding"], self.size]}

        return with_size

    @property
    def attention(self) -> Callable[[Tensor], dict[str, Tensor]]:
        attention = self.encoder.attention
        return lambda x: attention(_colours(x))

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        maps: dict[str, Tensor] = self.encoder.maps(_colours(x))
        return maps

    def features(self, x: Tensor) -> Tensor:
        """The input of the last layer of the encoder, and the two logarithms."""
        return torch.cat([self.encoder.features(_colours(x)), log_sides(x[:, -1])], dim=1)

    def embedding(self, features: Tensor) -> Tensor:
        embeddings: Tensor = self.encoder.embedding(features[:, :-2]) + self.size(features[:, -2:])
        return embeddings

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.encoder(_colours(x)) + self.size(log_sides(x[:, -1]))
        return embeddings


def _colours(x: Tensor) -> Tensor:
    if x.dim() != 4 or x.shape[1] not in (2, 4):
        raise DataError(
            "the encoder takes pictures with their original size, (n, 2 or 4, height, width); got "
            f"{tuple(x.shape)}. Read them with original_size, as it was trained with."
        )
    return colours_of(x)
