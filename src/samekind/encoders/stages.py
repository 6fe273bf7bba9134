"""An image network as named stages, from the input to the embedding.

``stages()`` lists the modules that the network applies, in order, by the name of their stage; the last is
``"embedding"``. Its output, its maps and the learning rates of its parts all follow from this list.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from samekind.encoders.freezing import BatchNorm, Freeze, Network, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_images, expect_sizes
from samekind.encoders.pooling import Pooling, expect_pooling, normalised, pooled


class Stage(NamedTuple):
    """A stage of a network: its name, the channels it gives, its modules by the names of their weights."""

    name: str
    channels: int
    modules: Mapping[str, nn.Module]


class ImageSettings(NamedTuple):
    """The settings that image networks share; see `ResNet18`."""

    channels: int
    dimension: int | None
    checkpointing: bool
    batch_norm: BatchNorm
    freeze: Freeze
    pooling: Pooling = "average"
    layer_norm: bool = False


def compose(
    network: Any, stages: Iterable[Stage], settings: ImageSettings, *, smallest: int = 1, places: int = 1
) -> None:
    """Make an image network of its stages and an embedding layer, with fresh weights.

    The stages come lazily: settings are checked before the first one is built. ``smallest`` is the least
    side of an image in pixels; ``places`` is how many places of the last map become features.
    """
    expect_sizes({"channels": settings.channels, "dimension": settings.dimension})
    expect_choices(batch_norm=settings.batch_norm, freeze=settings.freeze)
    network.smallest = smallest
    expect_pooling(settings.pooling)
    dimension = settings.dimension
    for name, value in settings._asdict().items():
        setattr(network, name, value)
    network.map_channels, network.stage_parts = {}, {}
    for stage in stages:
        network.map_channels[stage.name] = stage.channels
        network.stage_parts[stage.name] = list(stage.modules)
        for name, module in stage.modules.items():
            network.add_module(name, module)
    network.feature_dimension = network.map_channels[stage.name] * places
    network.dimension = dimension or network.feature_dimension
    network.embedding = embedding_layer(network.feature_dimension, dimension)
    start_convolutions(network)
    begin(network)


def constructor(stages: Callable[[int], Iterable[Stage]], *, smallest: int = 1) -> Callable[..., None]:
    """The ``__init__`` of a network whose stages follow from the channels of its images; see `compose`."""

    def initialise(
        self: nn.Module,
        *,
        channels: int = 3,
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
        pooling: Pooling = "average",
        layer_norm: bool = False,
    ) -> None:
        nn.Module.__init__(self)
        settings = ImageSettings(channels, dimension, checkpointing, batch_norm, freeze, pooling, layer_norm)
        compose(self, stages(channels), settings, smallest=smallest)

    return initialise


def image_network(network: type[Network]) -> type[Network]:
    """Give a class whose constructor calls `compose` the methods below, but for those that it has itself."""
    shared = {
        "came_later": ("batch_norm", "freeze", "pooling", "layer_norm"),
        "stages": composed_stages,
        "train": train_unless_frozen,
        "maps": image_maps,
        "features": pooled_features,
        "forward": embedded,
    }
    for name in shared.keys() - vars(network).keys():
        setattr(network, name, shared[name])
    return network


def start_convolutions(network: nn.Module) -> None:
    """Fresh weights with variance 2 / (outputs x kernel area): He et al., "Delving Deep into Rectifiers"."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


# The methods that image networks share. ``self`` is a network that `compose` made, or one like it.


def composed_stages(self: Any) -> dict[str, list[nn.Module]]:
    """The modules of each stage, from the input to the embedding."""
    parts = {name: [getattr(self, part) for part in parts] for name, parts in self.stage_parts.items()}
    return {**parts, "embedding": [self.embedding]}


def image_maps(self: Any, x: Tensor) -> dict[str, Tensor]:
    """The output of each stage, (n, C, H, W), by name and in order; the last becomes the features."""
    expect_images(x, channels=self.channels, smallest=self.smallest)
    return maps_of(self, x)


def pooled_features(self: Any, x: Tensor) -> Tensor:
    """The last map pooled over its places, as ``pooling`` and ``layer_norm`` say: (n, feature_dimension)."""
    expect_images(x, channels=self.channels, smallest=self.smallest)
    return normalised(self, pooled(last_map(self, x), self.pooling))


def square_features(self: Any, x: Tensor) -> Tensor:
    """The input of the embedding layer, for square images of one size."""
    expect_images(x, channels=self.channels, size=self.size)
    features: Tensor = self.layers(x)
    return features


def embedded(self: Any, x: Tensor) -> Tensor:
    """The features through the embedding layer: (n, dimension)."""
    embeddings: Tensor = self.embedding(self.features(x))
    return embeddings


def maps_of(encoder: Any, x: Tensor) -> dict[str, Tensor]:
    """The output of every stage but the embedding, by name and in order."""
    return dict(_walk(encoder, x))


def last_map(encoder: Any, x: Tensor) -> Tensor:
    """The output of the last stage before the embedding, without keeping the others."""
    last = x
    for _, last in _walk(encoder, x):  # noqa: B007
        pass
    return last


def embedding_layer(features: int, dimension: int | None) -> nn.Module:
    """A linear layer; the identity where ``dimension`` is None or the number of features."""
    return nn.Identity() if dimension in (None, features) else nn.Linear(features, dimension or features)


def _walk(encoder: Any, x: Tensor) -> Iterator[tuple[str, Tensor]]:
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
    """The same, computed again in the backward pass: only what lies between stages is kept until then."""
    if torch.compiler.is_compiling():
        # The compiler does not repeat updates of statistics, and does not take the contexts below.
        compiled: Tensor = checkpoint(_apply, modules, x, use_reentrant=False)
        return compiled
    result: Tensor = checkpoint_of(modules)(_apply, modules, x)
    return result


def checkpoint_of(modules: Sequence[nn.Module]) -> Callable[..., Any]:
    """PyTorch's ``checkpoint`` of a function of these modules, whose statistics move once, not twice."""

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), statistics_kept(modules)

    return partial(checkpoint, use_reentrant=False, context_fn=contexts)


@contextmanager
def statistics_kept(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Within this context, the second pass, batch normalisation does not update its running statistics.

    With a momentum of 0 they stay exactly the same. Taking them away would save other tensors for the
    backward pass than the first time, which PyTorch refuses.
    """
    norms = [norm for module in modules for norm in module.modules() if isinstance(norm, _BatchNorm)]
    before = [(norm.momentum, norm.num_batches_tracked) for norm in norms]
    try:
        for norm in norms:
            norm.momentum, norm.num_batches_tracked = 0.0, None
        yield
    finally:
        for norm, (momentum, count) in zip(norms, before, strict=True):
            norm.momentum, norm.num_batches_tracked = momentum, count
