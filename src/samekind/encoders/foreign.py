"""Any module of yours as an encoder.

It is not in the room's list, because a saved space cannot build it. ``fit(run, sets, …, encoder=…)`` trains
it, and ``MetricSpace.load(folder, encoder=…)`` takes a module built the same way. A network of timm or
torchvision needs neither: see `samekind.encoders.Backbone`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor, nn

from samekind.encoders.channel_scaling import ChannelScaling
from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_sizes
from samekind.encoders.pooling import Pooling, expect_pooling, normalised, pooled
from samekind.encoders.recomputing import recomputing
from samekind.encoders.stages import embedded, embedding_layer
from samekind.errors import DataError, SettingError


class Wrapping(Protocol):
    """The attributes that `features_of` needs of an encoder around a module."""

    scaling: nn.Module
    module: nn.Module
    feature_dimension: int
    checkpointing: bool
    pooling: Pooling
    layer_norm: bool


def features_of(encoder: Wrapping, x: Tensor) -> Tensor:
    """The output of the module inside, pooled over places if it gives maps: (n, feature_dimension)."""
    with recomputing(encoder.module, active=encoder.checkpointing):
        features: Any = encoder.module(encoder.scaling(x))
    if isinstance(features, Tensor) and features.dim() == 4:
        features = pooled(features, encoder.pooling)
    if not isinstance(features, Tensor) or features.shape != (x.shape[0], encoder.feature_dimension):
        result = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise DataError(
            f"{type(encoder.module).__name__} should give ({len(x)}, {encoder.feature_dimension}), or maps "
            f"with as many channels; it gave {result}. Set feature_dimension, or wrap what it returns."
        )
    return normalised(encoder, features)


class Foreign(nn.Module):
    """Any module as an encoder: whatever it takes to embeddings (n, dimension).

    The module gives features (n, feature_dimension) or maps (n, feature_dimension, height, width), which
    are pooled over their places; ``pooling`` and ``layer_norm`` are those of `samekind.encoders.ResNet18`.
    With ``dimension`` None (or that of the features) these are the embeddings, with any other a linear map of
    them. ``means`` and ``deviations``, for each channel, scale images in [0, 1] first. ``batch_norm``
    "frozen" keeps its running statistics; ``freeze`` "features" takes the module out of training (its first
    stage is not known, so "stem" is refused). ``checkpointing``: its blocks are computed again in the
    backward pass, to save memory.

    >>> Foreign(nn.Linear(4, 8), feature_dimension=8, dimension=2).dimension
    2
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        feature_dimension: int,
        dimension: int | None = None,
        means: Sequence[float] | None = None,
        deviations: Sequence[float] | None = None,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
        checkpointing: bool = False,
        pooling: Pooling = "average",
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        expect_sizes({"feature_dimension": feature_dimension, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        expect_pooling(pooling)
        if freeze == "stem":
            raise SettingError('the stem of a foreign module is not known; freeze "none" or "features" of it')
        if (means is None) != (deviations is None):
            raise SettingError("means and deviations belong together; give both, or neither")
        self.feature_dimension = feature_dimension
        self.dimension = dimension or feature_dimension
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.checkpointing = checkpointing
        self.pooling: Pooling = pooling
        self.layer_norm = layer_norm
        self.scaling: nn.Module = ChannelScaling(means, deviations) if means and deviations else nn.Identity()
        self.module = module
        self.embedding = embedding_layer(feature_dimension, dimension)
        begin(self, pretrained=True)  # its weights may have been learned

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding; the module is one."""
        return {"module": [self.scaling, self.module], "embedding": [self.embedding]}

    def features(self, x: Tensor) -> Tensor:
        """The output of the module, pooled over places if it gives maps: (n, feature_dimension)."""
        return features_of(self, x)

    train = train_unless_frozen
    forward = embedded
