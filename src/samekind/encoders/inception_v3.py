"""Inception-v3, for images of 299 pixels.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016. Layers have
torchvision's names, so its weights fit, but for the classifiers: there is no auxiliary one here.
"""

from torch import nn

from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_sizes
from samekind.encoders.inception_modules import (
    InceptionA,
    InceptionB,
    InceptionC,
    InceptionD,
    InceptionE,
    unit,
)
from samekind.encoders.residual_blocks import start_convolutions
from samekind.encoders.stages import embedded, embedding_layer, image_maps, pooled_features

SMALLEST = 75  # with fewer pixels the side would be nothing at the end

MIXED = {
    "Mixed_5b": 256,
    "Mixed_5c": 288,
    "Mixed_5d": 288,
    "Mixed_6a": 768,
    "Mixed_6b": 768,
    "Mixed_6c": 768,
    "Mixed_6d": 768,
    "Mixed_6e": 768,
    "Mixed_7a": 1280,
    "Mixed_7b": 2048,
    "Mixed_7c": 2048,
}


class InceptionV3(nn.Module):
    """Images (n, channels, height, width) of 75 pixels or more, meant for 299, to embeddings (n, dimension).

    With ``dimension`` None or 2048 the embeddings are the pooled features themselves, none of them
    negative; with any other (128 in the plankton embedding of Kim's thesis) a linear map of these.
    ``checkpointing``: each stage is computed again in the backward pass, to save memory.
    ``batch_norm`` and ``freeze`` are those of `ResNet18`.
    """

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        self.channels = channels
        self.feature_dimension = 2048
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = SMALLEST
        self.map_channels = {"stem": 192, **MIXED}
        self.Conv2d_1a_3x3 = unit(channels, 32, 3, stride=2)
        self.Conv2d_2a_3x3 = unit(32, 32, 3)
        self.Conv2d_2b_3x3 = unit(32, 64, 3, padding=1)
        self.maxpool1 = nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1 = unit(64, 80, 1)
        self.Conv2d_4a_3x3 = unit(80, 192, 3)
        self.maxpool2 = nn.MaxPool2d(3, stride=2)
        self.Mixed_5b = InceptionA(192, pooled=32)
        self.Mixed_5c = InceptionA(256, pooled=64)
        self.Mixed_5d = InceptionA(288, pooled=64)
        self.Mixed_6a = InceptionB(288)
        self.Mixed_6b = InceptionC(768, narrow=128)
        self.Mixed_6c = InceptionC(768, narrow=160)
        self.Mixed_6d = InceptionC(768, narrow=160)
        self.Mixed_6e = InceptionC(768, narrow=192)
        self.Mixed_7a = InceptionD(768)
        self.Mixed_7b = InceptionE(1280)
        self.Mixed_7c = InceptionE(2048)
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        start_convolutions(self)
        begin(self)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""
        stem = [
            self.Conv2d_1a_3x3,
            self.Conv2d_2a_3x3,
            self.Conv2d_2b_3x3,
            self.maxpool1,
            self.Conv2d_3b_1x1,
            self.Conv2d_4a_3x3,
            self.maxpool2,
        ]
        mixed = {name: [self.get_submodule(name)] for name in MIXED}
        return {"stem": stem, **mixed, "embedding": [self.embedding]}

    train = train_unless_frozen
    maps = image_maps
    features = pooled_features
    forward = embedded
