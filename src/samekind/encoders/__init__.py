"""Items to embeddings.

An encoder is a module with a ``dimension``. ``forward`` takes items (n, …) to embeddings (n, dimension), not
normalised, and ``features`` to what its last layer sees. Input of another shape raises a ``DataError``.

An image network has named stages:

- ``stages()``: the modules of each stage, from the input to the embedding;
- ``maps(x)``: the output of each stage, with ``map_channels`` channels;
- ``feature_dimension``: how many features the last map becomes, before the embedding layer;
- ``dimension`` None keeps the features as the embedding;
- ``freeze`` and ``batch_norm``: what training leaves as it is. A network frozen as it was drawn is refused by
  training, so every network ends its constructor with `compose` or ``begin(self, pretrained=…)``.

Networks of sounds (`XVector`, `ECAPA`, `SoundResNet`, `CAMPlusPlus`) take features (n, coefficients, frames),
padded at their ends with NaN; padding changes no embedding. ``coefficients`` says how many numbers a frame
has. `FrontEnd` around one of them makes features of waveforms. `SpeakerNetwork` is a published one with its
own front end and learned weights.

Some are around others: `Standardised` scales the input, `Views` asks about a picture at another size and with
its mirrored copy, `Headed` puts a head on an encoder, `Compressed` shortens its embeddings, `WithSize` adds
what the original size of a picture tells, `SideBySide` joins several. `Unchanged` is none: items as they are;
`FrameStatistics` is as little for sounds.

`Attended` makes features of several maps of such a network, its backbone; ``attention(x)`` gives the
weights of each layer. `Backbone` is a network of timm or torchvision, by its name there, without maps. A
module of your own is wrapped by `samekind.encoders.foreign`.
"""

from samekind.encoders.attended import Attended
from samekind.encoders.backbone import Backbone
from samekind.encoders.bn_inception import BNInception
from samekind.encoders.cam_plus_plus import CAMPlusPlus
from samekind.encoders.compressed import Compressed
from samekind.encoders.conv4 import Conv4
from samekind.encoders.ecapa import ECAPA
from samekind.encoders.frame_statistics import FrameStatistics
from samekind.encoders.front_end import FrontEnd
from samekind.encoders.headed import Headed
from samekind.encoders.inception_v3 import InceptionV3
from samekind.encoders.lenet import LeNet
from samekind.encoders.mlp import MLP
from samekind.encoders.pretrained import EfficientNetLite
from samekind.encoders.residual_mlp import ResidualMLP
from samekind.encoders.resnet import (
    PreActResNet18,
    ResNet10,
    ResNet12,
    ResNet18,
    ResNet34,
    ResNet50,
    WideResNet,
)
from samekind.encoders.side_by_side import SideBySide
from samekind.encoders.small_convnet import SmallConvnet
from samekind.encoders.sound_resnet import SoundResNet
from samekind.encoders.speaker_network import SpeakerNetwork
from samekind.encoders.standardised import Standardised
from samekind.encoders.unchanged import Unchanged
from samekind.encoders.views import Views
from samekind.encoders.with_size import WithSize
from samekind.encoders.x_vector import XVector

__all__ = [
    "ECAPA",
    "MLP",
    "Attended",
    "BNInception",
    "Backbone",
    "CAMPlusPlus",
    "Compressed",
    "Conv4",
    "EfficientNetLite",
    "FrameStatistics",
    "FrontEnd",
    "Headed",
    "InceptionV3",
    "LeNet",
    "PreActResNet18",
    "ResNet10",
    "ResNet12",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "ResidualMLP",
    "SideBySide",
    "SmallConvnet",
    "SoundResNet",
    "SpeakerNetwork",
    "Standardised",
    "Unchanged",
    "Views",
    "WideResNet",
    "WithSize",
    "XVector",
]
