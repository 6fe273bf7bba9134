"""From a map to features: how its places are pooled, and whether the features are normalised."""

from typing import Any, Literal

import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError

#: The places of a map become one number a channel: their average, their maximum, or the sum of both.
Pooling = Literal["average", "maximum", "average+maximum"]


def expect_pooling(pooling: str) -> None:
    """Raises SettingError for a word that is not a choice."""
    if pooling not in ("average", "maximum", "average+maximum"):
        raise SettingError(f'pooling is "average", "maximum" or "average+maximum"; got "{pooling}"')


def pooled(maps: Tensor, pooling: Pooling) -> Tensor:
    """Maps (n, channels, height, width) to features (n, channels)."""
    if pooling == "average":
        return maps.mean((2, 3))
    if pooling == "maximum":
        return maps.amax((2, 3))
    return maps.mean((2, 3)) + maps.amax((2, 3))


def normalised(encoder: Any, features: Tensor) -> Tensor:
    """Features (n, d) as the encoder's ``layer_norm`` says: as they are, or with mean 0 and variance 1 for
    each item (LayerNorm without weights), so that all have the same length.
    """
    return F.layer_norm(features, features.shape[1:]) if encoder.layer_norm else features


class PooledMap(nn.Module):
    """Pooling as a layer: maps (n, channels, height, width) to (n, channels, 1, 1)."""

    def __init__(self, pooling: Pooling) -> None:
        super().__init__()
        self.pooling: Pooling = pooling

    def forward(self, x: Tensor) -> Tensor:
        return pooled(x, self.pooling)[:, :, None, None]
