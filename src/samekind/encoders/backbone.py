"""A network of timm or torchvision, by its name there.

Wightman, "PyTorch Image Models", 2019; the torchvision maintainers, "TorchVision: PyTorch's Computer Vision
library", 2016. Either is imported only when one of its networks is built.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

from torch import Tensor, nn

from samekind.encoders.channel_scaling import ChannelScaling
from samekind.encoders.foreign import features_of
from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_images, expect_sizes
from samekind.encoders.pooling import PooledMap, Pooling, expect_pooling
from samekind.encoders.stages import embedded, embedding_layer
from samekind.errors import PackageError, SettingError

Library = Literal["timm", "torchvision"]

IMAGENET_MEANS, IMAGENET_DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

# What the libraries raise for an unknown name, and for weights they cannot fetch.
CANNOT_MAKE = (RuntimeError, ValueError, KeyError, OSError)

Loaded = tuple[nn.Module, int, Sequence[float], Sequence[float]]


class Backbone(nn.Module):
    """Images (n, channels, height, width) in [0, 1], of the size the network takes, to embeddings (n,
    dimension).

    ``network`` is its name in the ``library``. It comes without its classifier; images are scaled here as
    its weights expect it, and grey ones (``channels`` 1) are shown as three equal colours. With
    ``dimension`` None, or that of the features, these are the embeddings, with any other a linear map of
    them.

    ``weights`` True takes the library's own, which it may download; False takes fresh ones. A saved space
    is always loaded with False, because it holds its own weights. ``batch_norm`` "frozen" keeps the
    statistics it came with; ``freeze`` "features" takes all but the embedding layer out of training.
    ``checkpointing``: the blocks of the network are computed again in the backward pass, to save memory. It
    has two stages, "module" and "embedding"; a part of the network has a rate of its own by its name, as
    "encoder.module.layer4".
    ``pooling`` "average" is the network's own, whatever that is; the others are for networks that
    pool maps. They and ``layer_norm`` are those of `ResNet18`.
    """

    came_later = ("pooling", "layer_norm")

    def __init__(
        self,
        *,
        library: Library,
        network: str,
        channels: Literal[1, 3] = 3,
        dimension: int | None = None,
        weights: bool = True,
        batch_norm: BatchNorm = "train",
        freeze: Literal["none", "features"] = "none",
        checkpointing: bool = False,
        pooling: Pooling = "average",
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        expect_sizes({"dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        expect_pooling(pooling)
        _expect_settings(library, network, channels, freeze)
        make = _from_timm if library == "timm" else _from_torchvision
        self.library: Library = library
        self.network = network
        self.channels = channels
        self.weights = False  # for its description, see above
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.checkpointing = checkpointing
        self.pooling: Pooling = pooling
        self.layer_norm = layer_norm
        module, self.feature_dimension, means, deviations = make(network, weights=weights, pooling=pooling)
        self.dimension = dimension or self.feature_dimension
        self.scaling: nn.Module = ChannelScaling(means, deviations)
        self.module = module
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        begin(self, pretrained=weights)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding; the network is one."""
        return {"module": [self.scaling, self.module], "embedding": [self.embedding]}

    def features(self, x: Tensor) -> Tensor:
        """The output of the network, pooled over places if it gives maps: (n, feature_dimension)."""
        expect_images(x, channels=self.channels)
        return features_of(self, x)

    train = train_unless_frozen
    forward = embedded


def _expect_settings(library: str, network: str, channels: int, freeze: str) -> None:
    if library not in ("timm", "torchvision"):
        raise SettingError(f'the library is "timm" or "torchvision"; got "{library}"')
    if channels not in (1, 3):
        raise SettingError(f"a Backbone takes 1 or 3 channels; got {channels}")
    if freeze not in ("none", "features"):
        raise SettingError(f'the stem of {network} is not known; freeze "none" or "features" of it')
    if ":" in network or "/" in network:
        raise SettingError(
            f'expected a name as {library} lists it, got a place: "{network}"; make that network '
            "yourself, wrap it in samekind.encoders.foreign.Foreign and give it to fit(…, encoder=…)"
        )


def _from_timm(name: str, *, weights: bool, pooling: Pooling) -> Loaded:
    timm, data = _library("timm"), _library("timm.data")
    maps = {} if pooling == "average" else {"global_pool": ""}  # maps, which `features_of` pools
    try:
        module = timm.create_model(name, pretrained=weights, num_classes=0, **maps)
    except CANNOT_MAKE as error:
        raise SettingError(f'timm cannot make "{name}": {error}') from error
    expects = data.resolve_model_data_config(module)
    # A head with a layer before its classifier, as MobileNet-v3 has, keeps that layer.
    features = getattr(module, "head_hidden_size", None) or module.num_features
    return module, features, expects["mean"], expects["std"]


def _from_torchvision(name: str, *, weights: bool, pooling: Pooling) -> Loaded:
    models = _library("torchvision.models")
    try:
        module = models.get_model(name, weights="DEFAULT" if weights else None)
    except CANNOT_MAKE as error:
        raise SettingError(f'torchvision cannot make "{name}": {error}') from error
    _take_off_side_classifiers(module)
    if hasattr(module, "transform_input"):
        module.transform_input = True  # as with weights: the same network with and without, to load into
    linear = [name for name, layer in module.named_modules() if isinstance(layer, nn.Linear)]
    if not linear:
        raise SettingError(
            f"{name} of torchvision has no linear classifier to take off; wrap it in "
            "samekind.encoders.foreign.Foreign and give it to fit(…, encoder=…)"
        )
    features = module.get_submodule(linear[-1]).in_features
    parent, _, child = linear[-1].rpartition(".")
    setattr(module.get_submodule(parent), child, nn.Identity())
    if pooling != "average":
        average = getattr(module, "avgpool", None)
        if not isinstance(average, nn.AdaptiveAvgPool2d) or average.output_size not in (1, (1, 1)):
            raise SettingError(f'{name} of torchvision has no pooling to replace; set pooling to "average"')
        module.avgpool = PooledMap(pooling)
    return module, features, IMAGENET_MEANS, IMAGENET_DEVIATIONS


def _take_off_side_classifiers(module: Any) -> None:
    """Remove those of GoogLeNet and Inception-v3, with which the network returns a tuple in training."""
    if getattr(module, "aux_logits", False):
        module.aux_logits = False
        for name in {"AuxLogits", "aux1", "aux2"} & {child for child, _ in module.named_children()}:
            setattr(module, name, None)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except Exception as error:  # a build that does not fit the installed PyTorch fails in many ways
        package = name.partition(".")[0]
        raise PackageError(
            f"{package} cannot be imported here ({error}); install one that fits your PyTorch: "
            f"pip install {package}"
        ) from error
