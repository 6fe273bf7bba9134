"""The last layers of a published network, which are trained further, and what its first layers give, computed
once: of CAM++ the last of three dense blocks and all behind it, of ECAPA-TDNN the layer behind the pooling.
"""

from typing import Any

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from samekind.acoustics import lengths_of, marked
from samekind.encoders import ECAPA, CAMPlusPlus
from samekind.encoders.time_pooling import expect_frames, statistics

#: Dense blocks whose maps are computed once, and the one that is trained.
FIRST, LAST = (1, 2), 3


class LastLayers(nn.Module):
    """The last dense block of CAM++ and all behind it, from maps (n, 512, frames), padded with NaN, to
    embeddings. Batch normalisation keeps the statistics that it came with.
    """

    def __init__(self, network: CAMPlusPlus) -> None:
        super().__init__()
        self.block, self.transit = (network.xvector[f"{name}{LAST}"] for name in ("block", "transit"))
        self.norm, self.last = network.xvector["out_nonlinear"], network.embedding
        self.dimension = network.dimension

    def forward(self, x: Tensor) -> Tensor:
        lengths = lengths_of(x)
        x = self.norm(self.transit(self.block(x.nan_to_num(0.0), lengths)))
        embeddings: Tensor = self.last(statistics(x, lengths, sample=True))
        return embeddings

    def train(self, mode: bool = True) -> "LastLayers":
        super().train(mode)
        for module in self.modules():
            if isinstance(module, _BatchNorm):
                module.eval()
        return self


class LastLayer(nn.Module):
    """The last layer of ECAPA-TDNN, from what the pooling gives, as a sound of one frame (n, 6144, 1)."""

    def __init__(self, network: ECAPA) -> None:
        super().__init__()
        self.embedding = network.embedding
        self.dimension = network.dimension

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.embedding(x[..., 0])
        return embeddings


LAST_LAYERS: dict[str, Any] = {"cam++": LastLayers, "ecapa": LastLayer}


def first_maps(network: CAMPlusPlus | ECAPA, features: Tensor) -> Tensor:
    """What the last layers take, of features (n, bands, frames), padded with NaN."""
    if isinstance(network, ECAPA):
        return network.features(features)[..., None]
    x, lengths = expect_frames(features, network.bands)
    x = network.xvector["tdnn"](network.head(x, lengths))
    lengths = (lengths + 1) // 2
    for number in FIRST:
        x = network.xvector[f"transit{number}"](network.xvector[f"block{number}"](x, lengths))
    return marked(x, lengths)
