"""Features made of several layers of a network, each attended to with the last one for a query.

Al-Kaabi, Monsefi and Zabihzadeh, "A Framework to Enhance Generalization of Deep Metric Learning Methods Using
General Discriminative Feature Learning and Class Adversarial Neural Networks". The last layer of a network is
specific to its training classes; the layers before it hold more of what helps with unseen classes.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from samekind.encoders.attention import (
    Activation,
    additive_scores,
    multiplicative_scores,
    weighted_mean,
    weights_over_places,
)
from samekind.encoders.images import expect_sizes
from samekind.encoders.stages import embedded, embedding_layer
from samekind.errors import SettingError, nearest

AttentionForm = Literal["additive", "multiplicative", "multidimensional"]

#: How many layers before the last are attended to by default.
DEFAULT_LAYERS = 3
#: The key of weights that all layers share.
SHARED = "every"


class Attended(nn.Module):
    """Images, as the backbone takes them, to embeddings (n, dimension), by attention over its ``layers``.

    The query u is the backbone's last map, averaged over its places. Each layer attended to (None: the
    last three before the final one) is brought to ``width`` channels, those of u, by a 1x1 convolution W1
    without offset. At a place with the channels q the score is <w, activation(W1 q + u)> ("additive"), the
    same with a vector w for each feature ("multidimensional"), or <W1 q, u> ("multiplicative", which has no
    activation); ``second`` puts W2 u for u, and is needed where ``width`` is not that of u. A softmax over
    the places makes weights of the scores, and the features of a layer are the weighted mean of its places.
    The features of all layers, concatenated or with ``fuse`` "sum" added up, and with ``with_last`` u itself,
    are what the embedding layer sees; ``dimension`` None keeps them as the embeddings.

    ``values`` "raw" weights the places as the backbone gives them (the paper's equation), not projected.
    ``shared`` has one w (and one W2) for all layers. ``projection`` "needed" does not project a layer that
    has the width already. Both, with ``activation`` "none", are what the authors' code seems to do: u then
    cancels out, and the attention does not depend on it.

    The backbone has no dimension of its own; what it freezes, and its checkpointing, stay. Memory grows with
    the width times the places of a layer: for large pictures in a wide network, name later layers.
    """

    backbone: Any

    def __init__(
        self,
        *,
        backbone: nn.Module,
        layers: Sequence[str] | None = None,
        form: AttentionForm = "additive",
        second: bool = False,
        activation: Activation = "tanh",
        shared: bool = False,
        width: int | None = None,
        projection: Literal["always", "needed"] = "always",
        values: Literal["projected", "raw"] = "projected",
        fuse: Literal["concatenate", "sum"] = "concatenate",
        with_last: bool = False,
        dimension: int | None = 64,
    ) -> None:
        super().__init__()
        expect_sizes({"width": width, "dimension": dimension})
        _expect_choices(form=form, activation=activation, projection=projection, values=values, fuse=fuse)
        self.backbone = backbone
        self.layers = layers if layers is None else list(layers)
        self.form: AttentionForm = form
        self.second = second
        self.activation: Activation = activation
        self.shared = shared
        self.width = width
        self.projection = projection
        self.values = values
        self.fuse = fuse
        self.with_last = with_last
        channels = _channels_of(backbone)
        self.attended = _chosen(backbone, layers)
        self.projections, self.queries, self.scorers = _weights(self, channels)
        widths = [channels[name] if values == "raw" else self._width for name in self.attended]
        last = list(channels.values())[-1] if with_last else 0
        self.feature_dimension = _fused_width(widths, fuse) + last
        self.dimension = dimension or self.feature_dimension
        self.embedding = embedding_layer(self.feature_dimension, dimension)

    @property
    def map_channels(self) -> dict[str, int]:
        """The channels of the backbone's maps."""
        channels: dict[str, int] = self.backbone.map_channels
        return channels

    @property
    def checkpointing(self) -> bool:
        """Whether the backbone computes its stages again in the backward pass."""
        return bool(self.backbone.checkpointing)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage: those of the backbone, the attention, the embedding."""
        stages: dict[str, list[nn.Module]] = {**self.backbone.stages()}
        stages.pop("embedding")
        stages["attention"] = [self.projections, self.queries, self.scorers]
        return {**stages, "embedding": [self.embedding]}

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        """The output of each stage of the backbone, by name and in order."""
        maps: dict[str, Tensor] = self.backbone.maps(x)
        return maps

    def attention(self, x: Tensor) -> dict[str, Tensor]:
        """The weights of each layer's places, by name: (n, height, width), which sum to 1 for each item.

        The multidimensional form has weights for each feature; this is their mean.
        """
        maps = self.maps(x)
        query = _pooled(maps)
        weights = {name: self._attend(name, maps[name], query)[1].mean(1) for name in self.attended}
        return {name: layer.reshape(len(x), *maps[name].shape[2:]) for name, layer in weights.items()}

    def features(self, x: Tensor) -> Tensor:
        """The attended layers, concatenated or added up, and u with ``with_last``: (n, feature_dimension)."""
        maps = self.maps(x)
        query = _pooled(maps)
        parts = [self._attend(name, maps[name], query)[0] for name in self.attended]
        if self.fuse == "sum":
            parts = [torch.stack(parts).sum(0)]
        return torch.cat([*parts, query] if self.with_last else parts, dim=1)

    forward = embedded

    @property
    def _width(self) -> int:
        return self.width or list(self.map_channels.values())[-1]

    def _attend(self, name: str, layer: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        """The features of a layer (n, channels), and its weights (n, 1 or channels, places)."""
        keys = self.projections[name](layer).flatten(2)
        key = SHARED if self.shared else name
        if self.second:
            query = self.queries[key](query)
        if self.form == "multiplicative":
            scores = multiplicative_scores(keys, query)
        else:
            scorer: Any = self.scorers[key]
            scores = additive_scores(keys, query, scorer.weight, activation=self.activation)
        weights = weights_over_places(scores)
        return weighted_mean(keys if self.values == "projected" else layer.flatten(2), weights), weights


def _fused_width(widths: Sequence[int], fuse: str) -> int:
    """The numbers of all layers together. Raises SettingError for a sum of layers of several widths."""
    if fuse == "sum" and len(set(widths)) > 1:
        raise SettingError(
            f"layers of {', '.join(map(str, widths))} channels cannot be added up as they are; "
            'set values to "projected", or fuse to "concatenate"'
        )
    return widths[0] if fuse == "sum" else sum(widths)


def _weights(encoder: Attended, channels: dict[str, int]) -> tuple[nn.ModuleDict, ...]:
    """W1 of each layer, and W2 and w of each layer or shared, as far as the form has them."""
    width, last = encoder._width, list(channels.values())[-1]
    if width != last and not encoder.second:
        raise SettingError(
            f"the last feature has {last} channels, so a width of {width} needs a matrix for it: "
            "set second to true, or leave the width"
        )
    keep = encoder.projection == "needed"
    projections = {
        name: nn.Identity()
        if keep and channels[name] == width
        else nn.Conv2d(channels[name], width, 1, bias=False)
        for name in encoder.attended
    }
    owners = [SHARED] if encoder.shared else encoder.attended
    outputs = dict.fromkeys(owners, 1)
    if encoder.form == "multidimensional":
        sizes = {name: channels[name] if encoder.values == "raw" else width for name in encoder.attended}
        if encoder.shared and len(set(sizes.values())) > 1:
            raise SettingError(
                f"layers of {', '.join(map(str, sizes.values()))} channels cannot share a vector for each; "
                'set values to "projected", or shared to false'
            )
        outputs = {name: sizes[encoder.attended[0] if encoder.shared else name] for name in owners}
    queries = {name: nn.Linear(last, width, bias=False) for name in owners if encoder.second}
    scorers = {
        name: nn.Linear(width, outputs[name], bias=False)
        for name in owners
        if encoder.form != "multiplicative"
    }
    return nn.ModuleDict(projections), nn.ModuleDict(queries), nn.ModuleDict(scorers)


def _pooled(maps: dict[str, Tensor]) -> Tensor:
    """The last map averaged over its places."""
    return list(maps.values())[-1].mean((2, 3))


def _channels_of(backbone: Any) -> dict[str, int]:
    """The channels of a backbone's maps. Raises SettingError if it has no maps, attention or an embedding."""
    name = type(backbone).__name__
    channels: dict[str, int] = getattr(backbone, "map_channels", {})
    if len(channels) < 2 or not hasattr(backbone, "stages"):
        raise SettingError(
            "expected a backbone with named maps, such as ResNet18, BNInception or EfficientNetLite; "
            f"{name} has none to attend to"
        )
    if "attention" in backbone.stages():
        raise SettingError(f"{name} attends to its layers already; give its backbone")
    unused = getattr(backbone, "embedding", None)
    if unused is not None and any(True for _ in unused.parameters()):
        raise SettingError(
            f"expected a backbone without a dimension, because its embedding layer is not used; got {name} "
            f"with {backbone.dimension}; give the dimension to Attended"
        )
    return channels


def _chosen(backbone: Any, layers: Sequence[str] | None) -> list[str]:
    """The names of the layers to attend to."""
    known = list(backbone.map_channels)
    if layers is None:
        return known[:-1][-DEFAULT_LAYERS:]
    for name in layers:
        if name not in known:
            raise SettingError(f'{type(backbone).__name__} has no map "{name}"; {nearest(name, known)}')
    if not layers or len(set(layers)) < len(layers):
        raise SettingError(f"expected one layer or more to attend to, each once; got {list(layers)}")
    return list(layers)


def _expect_choices(*, form: str, activation: str, projection: str, values: str, fuse: str) -> None:
    """Raises SettingError for a word that is not a choice."""
    choices = {
        "form": (form, ("additive", "multiplicative", "multidimensional")),
        "activation": (activation, ("tanh", "relu", "none")),
        "projection": (projection, ("always", "needed")),
        "values": (values, ("projected", "raw")),
        "fuse": (fuse, ("concatenate", "sum")),
    }
    for name, (given, known) in choices.items():
        if given not in known:
            raise SettingError(f'there is no {name} "{given}"; {nearest(str(given), known)}')
