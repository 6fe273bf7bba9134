"""A network as named stages, from the input to the embedding.

An encoder of images says by ``stages()`` which modules it applies, in order, each stage under a name; the
last is ``"embedding"``. What the network does, what lies between its layers and which of its parameters
learn at which rate all follow from this one list.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from samekind.encoders.images import expect_images


class Staged(Protocol):
    """What the functions here ask of an encoder."""

    checkpointing: bool

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, applied one after the other."""


class PooledImages(Protocol):
    """What the methods that most image networks share ask of them."""

    channels: int
    smallest: int  # pixels a side must have
    checkpointing: bool
    embedding: nn.Module

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, applied one after the other."""

    def features(self, x: Tensor) -> Tensor:
        """What the embedding layer sees."""


def image_maps(self: PooledImages, x: Tensor) -> dict[str, Tensor]:
    """What comes out of each stage, (n, C, H, W), by name and in order; the last is what is pooled."""
    expect_images(x, channels=self.channels, smallest=self.smallest)
    return maps_of(self, x)


def pooled_features(self: PooledImages, x: Tensor) -> Tensor:
    """The last map averaged over its places: (n, feature_dimension)."""
    expect_images(x, channels=self.channels, smallest=self.smallest)
    return last_map(self, x).mean((2, 3))


def embedded(self: PooledImages, x: Tensor) -> Tensor:
    """The features through the embedding layer: (n, dimension)."""
    embeddings: Tensor = self.embedding(self.features(x))
    return embeddings


def maps_of(encoder: Staged, x: Tensor) -> dict[str, Tensor]:
    """What comes out of every stage but the embedding, by name and in order."""
    return dict(_walk(encoder, x))


def last_map(encoder: Staged, x: Tensor) -> Tensor:
    """What comes out of the last stage before the embedding; those between are not kept."""
    last = x
    for _, last in _walk(encoder, x):  # noqa: B007  only the last is wanted
        pass
    return last


def embedding_layer(features: int, dimension: int | None) -> nn.Module:
    """One linear layer; none where the features are wanted as they are: for None, or their own number."""
    return nn.Identity() if dimension in (None, features) else nn.Linear(features, dimension or features)


def _walk(encoder: Staged, x: Tensor) -> Iterator[tuple[str, Tensor]]:
    for name, modules in encoder.stages().items():
        if name == "embedding":
            return
        recompute = encoder.checkpointing and torch.is_grad_enabled()
        x = _recomputed(modules, x) if recompute else _apply(modules, x)
        yield name, x


def _apply(modules: Sequence[nn.Module], x: Tensor) -> Tensor:
    for module in modules:
        x = module(x)
    return x


def _recomputed(modules: Sequence[nn.Module], x: Tensor) -> Tensor:
    """The same, but what the backward pass needs is computed once more then, and not kept until then.

    A stage costs a second forward pass; in return only what lies between stages is held in memory.
    """
    if torch.compiler.is_compiling():
        # The compiler computes numbers again, but no change of statistics, and it refuses the contexts below.
        compiled: Tensor = checkpoint(_apply, modules, x, use_reentrant=False)
        return compiled

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), statistics_kept(modules)

    result: Tensor = checkpoint(_apply, modules, x, use_reentrant=False, context_fn=contexts)
    return result


@contextmanager
def statistics_kept(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Batch normalisation as it is, but its running statistics, which the first pass moved, do not move
    again.

    A momentum of 0 leaves them exactly as they are; passing none at all would save other tensors for the
    backward pass than the first time, which PyTorch refuses.
    """
    layers = [each for module in modules for each in module.modules() if isinstance(each, _BatchNorm)]
    before: Mapping[_BatchNorm, tuple[float | None, Tensor | None]] = {
        each: (each.momentum, each.num_batches_tracked) for each in layers
    }
    try:
        for each in layers:
            each.momentum, each.num_batches_tracked = 0.0, None
        yield
    finally:
        for each, (momentum, count) in before.items():
            each.momentum, each.num_batches_tracked = momentum, count
