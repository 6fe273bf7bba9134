"""Encoders from elsewhere: any module of yours, or a network of timm or torchvision by its name.

They are not in the room's list, because a saved space cannot rebuild them by itself: it is loaded with
``MetricSpace.load(folder, encoder=…)``, given an encoder made the same way.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal, Self

from torch import Tensor, nn

from samekind.encoders.channel_scaling import ChannelScaling
from samekind.encoders.freezing import BatchNorm, Freeze, expect_choices, hold, settle
from samekind.encoders.images import expect_sizes
from samekind.encoders.stages import embedding_layer
from samekind.errors import DataError, SettingError

IMAGENET_MEANS, IMAGENET_DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Foreign(nn.Module):
    """Any module as an encoder: whatever it takes to embeddings (n, dimension).

    The module gives features (n, feature_dimension) or maps (n, feature_dimension, height, width), which
    are averaged over their places. With ``dimension`` None (or that of the features) these are the
    embeddings, with any other a linear map of them. ``means`` and ``deviations``, for each channel, scale
    images in [0, 1] first. ``batch_norm`` "frozen" keeps its running statistics; ``freeze`` "features"
    takes the module out of training (its first stage is not known, so "stem" is refused).

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
    ) -> None:
        super().__init__()
        expect_sizes({"feature_dimension": feature_dimension, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        if freeze == "stem":
            raise SettingError('the stem of a foreign module is not known; freeze "none" or "features" of it')
        if (means is None) != (deviations is None):
            raise SettingError("means and deviations belong together; give both, or neither")
        self.feature_dimension = feature_dimension
        self.dimension = dimension or feature_dimension
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.scaling = ChannelScaling(means, deviations) if means and deviations else nn.Identity()
        self.module = module
        self.embedding = embedding_layer(feature_dimension, dimension)
        hold(self.stages(), freeze=freeze)
        self.train()

    def train(self, mode: bool = True) -> Self:
        """Training or evaluation mode; what is frozen stays in evaluation mode."""
        super().train(mode)
        settle(self.stages(), batch_norm=self.batch_norm, freeze=self.freeze)
        return self

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding; the module is one."""
        return {"module": [self.scaling, self.module], "embedding": [self.embedding]}

    def features(self, x: Tensor) -> Tensor:
        """What the module gives, averaged over places where it gives maps: (n, feature_dimension)."""
        features: Any = self.module(self.scaling(x))
        if isinstance(features, Tensor) and features.dim() == 4:
            features = features.mean((2, 3))
        if not isinstance(features, Tensor) or features.shape != (len(x), self.feature_dimension):
            came = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
            raise DataError(
                f"{type(self.module).__name__} should give ({len(x)}, {self.feature_dimension}), or maps "
                f"with as many channels; it gave {came}. Say its feature_dimension, or wrap what it returns."
            )
        return features

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.embedding(self.features(x))
        return embeddings


def named_backbone(
    *,
    library: Literal["timm", "torchvision"],
    name: str,
    dimension: int | None = None,
    weights: bool = True,
    batch_norm: BatchNorm = "train",
    freeze: Freeze = "none",
) -> Foreign:
    """A network of timm or torchvision by its name there, without its classifier, for colour images in
    [0, 1].

    ``weights`` True takes the library's own (which it may download), False fresh ones: enough to load a saved
    space into. Either library is used only here, and need not be installed otherwise.
    """
    if library not in ("timm", "torchvision"):
        raise SettingError(f'the library is "timm" or "torchvision"; got "{library}"')
    make = _from_timm if library == "timm" else _from_torchvision
    module, feature_dimension, means, deviations = make(name, weights=weights)
    return Foreign(
        module,
        feature_dimension=feature_dimension,
        dimension=dimension,
        means=means,
        deviations=deviations,
        batch_norm=batch_norm,
        freeze=freeze,
    )


Found = tuple[nn.Module, int, Sequence[float], Sequence[float]]

# What the libraries raise for a name they do not know, and for weights they cannot fetch.
CANNOT_MAKE = (RuntimeError, ValueError, KeyError, OSError)


def _from_timm(name: str, *, weights: bool) -> Found:
    timm, data = _library("timm"), _library("timm.data")
    try:
        module = timm.create_model(name, pretrained=weights, num_classes=0)
    except CANNOT_MAKE as error:
        raise SettingError(f'timm cannot make "{name}": {error}') from error
    expects = data.resolve_model_data_config(module)
    # A head with a layer before its classifier, as MobileNet-v3 has, keeps that layer.
    features = getattr(module, "head_hidden_size", None) or module.num_features
    return module, features, expects["mean"], expects["std"]


def _from_torchvision(name: str, *, weights: bool) -> Found:
    models = _library("torchvision.models")
    try:
        module = models.get_model(name, weights="DEFAULT" if weights else None)
    except CANNOT_MAKE as error:
        raise SettingError(f'torchvision cannot make "{name}": {error}') from error
    _take_off_side_classifiers(module)
    if hasattr(module, "transform_input"):
        module.transform_input = True  # as with weights: the same network with and without, to load into
    linear = [place for place, each in module.named_modules() if isinstance(each, nn.Linear)]
    if not linear:
        raise SettingError(f"{name} of torchvision has no linear classifier to take off; wrap it in Foreign")
    features = module.get_submodule(linear[-1]).in_features
    parent, _, child = linear[-1].rpartition(".")
    setattr(module.get_submodule(parent), child, nn.Identity())
    return module, features, IMAGENET_MEANS, IMAGENET_DEVIATIONS


def _take_off_side_classifiers(module: Any) -> None:
    """Those of GoogLeNet and Inception-v3: in training they make a tuple of what the network gives."""
    if getattr(module, "aux_logits", False):
        module.aux_logits = False
        for name in {"AuxLogits", "aux1", "aux2"} & {place for place, _ in module.named_children()}:
            setattr(module, name, None)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except Exception as error:  # a build that does not fit the installed PyTorch fails in many ways
        package = name.partition(".")[0]
        raise SettingError(
            f"{package} cannot be imported here ({error}); install one that fits your PyTorch: "
            f"pip install {package}"
        ) from error
