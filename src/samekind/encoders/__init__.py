"""Items to embeddings.

An encoder is a module with a ``dimension``: ``forward`` takes items (n, …) to embeddings (n,
dimension), not normalised, and ``features`` to what its last layer sees. Input of another shape is
refused with a ``DataError``.

The networks for images have named stages too: ``stages()`` lists the modules of each, from the input to
the embedding, ``maps(x)`` gives what comes out of each, with ``map_channels`` channels, and
``feature_dimension`` is what the last map becomes before the embedding layer. `Attended` makes features of
several of the maps of such a network, its backbone, and says by ``attention(x)`` where it looked. `Backbone`
is a network of another library, by its name there, and has no maps. A module of your own is wrapped by
`samekind.encoders.foreign`.
"""

from samekind.encoders.attended import Attended
from samekind.encoders.backbone import Backbone
from samekind.encoders.bn_inception import BNInception
from samekind.encoders.conv4 import Conv4
from samekind.encoders.inception_v3 import InceptionV3
from samekind.encoders.lenet import LeNet
from samekind.encoders.mlp import MLP
from samekind.encoders.pretrained import EfficientNetLite
from samekind.encoders.resnet import PreActResNet18, ResNet12, ResNet18, ResNet34, ResNet50, WideResNet
from samekind.encoders.small_convnet import SmallConvnet
from samekind.encoders.standardised import Standardised

__all__ = [
    "MLP",
    "Attended",
    "BNInception",
    "Backbone",
    "Conv4",
    "EfficientNetLite",
    "InceptionV3",
    "LeNet",
    "PreActResNet18",
    "ResNet12",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "SmallConvnet",
    "Standardised",
    "WideResNet",
]
