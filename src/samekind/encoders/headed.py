"""A head on an encoder: two encoders, one after the other, as one."""

from typing import Any

from torch import Tensor, nn

from samekind.encoders.wrapping import around_encoder


@around_encoder
class Headed(nn.Module):
    """Items to the embeddings of the ``encoder``, and these through the ``head``: (n, …) -> (n, dimension).

    The head is an encoder of vectors, such as an `MLP`. What the encoder freezes stays frozen: without a
    dimension of its own, and with ``freeze`` "features", the head alone learns.
    `samekind.inference.headed_space` puts a head that was trained on stored features on the encoder that
    computed them.
    """

    encoder: Any
    head: Any

    def __init__(self, *, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    @property
    def dimension(self) -> int:
        """That of the head."""
        return int(self.head.dimension)

    @property
    def feature_dimension(self) -> int:
        """How many numbers the head takes."""
        return int(self.encoder.dimension)

    @property
    def embedding(self) -> nn.Module:
        head: nn.Module = self.head
        return head

    @property
    def stages(self) -> Any:
        """The function that gives the encoder's stages, if it has any; the head is part of the last one."""
        stages = self.encoder.stages

        def with_head() -> dict[str, list[nn.Module]]:
            named: dict[str, list[nn.Module]] = stages()
            return {**named, "embedding": [*named["embedding"], self.head]}

        return with_head

    def features(self, x: Tensor) -> Tensor:
        """The embeddings of the encoder, (n, feature_dimension)."""
        features: Tensor = self.encoder(x)
        return features

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.head(self.encoder(x))
        return embeddings
