"""Shorter embeddings: those of an encoder, projected."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.images import expect_sizes
from samekind.encoders.wrapping import around_encoder
from samekind.errors import SettingError


class Projection(nn.Module):
    """z -> matrix z, without an offset: (n, inputs) -> (n, outputs). The matrix is kept, not trained."""

    matrix: Tensor

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("matrix", torch.eye(outputs, inputs))

    def forward(self, z: Tensor) -> Tensor:
        return F.linear(z, self.matrix)


@around_encoder
class Compressed(nn.Module):
    """Items to the first ``dimension`` principal directions of the embeddings of the ``encoder``.

    `samekind.inference.compress` fits the projection after training. It is linear, without an offset, so
    that means of embeddings stay means, and the length of an embedding does not change its direction. As
    built here, it takes the first numbers of each embedding.
    """

    encoder: Any
    dimension: int
    feature_dimension: int
    embedding: Projection

    def __init__(self, *, encoder: nn.Module, dimension: int = 64) -> None:
        super().__init__()
        expect_sizes({"dimension": dimension})
        inputs: int = encoder.dimension  # type: ignore[assignment]
        if dimension > inputs:
            raise SettingError(
                f"embeddings of {inputs} numbers cannot be compressed to {dimension}; "
                f"choose {inputs} or fewer"
            )
        self.encoder = encoder
        self.dimension = dimension
        self.feature_dimension = inputs
        self.embedding = Projection(inputs, dimension)

    def features(self, x: Tensor) -> Tensor:
        """The embeddings of the encoder, before the projection."""
        features: Tensor = self.encoder(x)
        return features

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.embedding(self.encoder(x))
        return embeddings
