"""The forward pass of a training step: the space, and the extras that read its encoder's features."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from samekind.space import MetricSpace
from samekind.training.extras import Extra
from samekind.training.fabric import Fabric
from samekind.training.in_parts import Embedding, in_parts


class Forward(nn.Module):
    """Items to embeddings, and the outputs of the extras that read features, in one pass of the encoder, with
    at most ``at_once`` items in it at a time (0: all).
    """

    def __init__(self, space: MetricSpace, extras: Sequence[Extra], *, at_once: int = 0) -> None:
        super().__init__()
        self.space = space
        self.at_once = at_once
        self.extras = nn.ModuleDict({extra.name: extra for extra in extras})  # type: ignore[misc]
        self.readers = [extra for extra in extras if extra.reads_features]

    @property
    def method(self) -> str:
        """The method of the encoder that does the work."""
        return "features" if self.readers else "forward"

    def forward(self, x: Tensor) -> Embedding:
        return in_parts(self._embed, x, at_once=self.at_once, module=self.space)

    def _embed(self, x: Tensor) -> Embedding:
        if not self.readers:
            return self.space(x), {}
        encoder: Any = self.space.encoder
        features = encoder.features(x)
        return encoder.embedding(features), {extra.name: extra(features) for extra in self.readers}


def forward_pass(
    fabric: Fabric, wrapped: nn.Module, *, direct: bool | None = None
) -> Callable[[Tensor], Embedding]:
    """The call of a module that Fabric has wrapped, in the run's precision; outputs are in float32 at least.

    With several processes it is Fabric's module, which synchronises their gradients. With one it is the
    module itself (``direct``): Fabric's walks through all inputs and outputs, and a GPU waits for it.
    """
    if direct is None:
        direct = fabric.world_size == 1
    if not direct:
        return wrapped
    module: Any = wrapped.module

    def call(x: Tensor) -> Embedding:
        with fabric.autocast():
            z, outputs = module(x)
        return _exact(z), {name: _exact(output) for name, output in outputs.items()}

    return call


def _exact(tensor: Tensor) -> Tensor:
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
