"""An encoder that sees pictures in another size, only their middle, or also their mirrored copy."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.images import expect_sizes
from samekind.encoders.resizing import resized_by_matrices
from samekind.encoders.wrapping import around_encoder
from samekind.errors import DataError
from samekind.tracing import exporting


@around_encoder
class Views(nn.Module):
    """In evaluation mode, pictures (n, channels, height, width) resized to ``size`` pixels, and the mean of
    the embeddings of each picture and (``mirror``) its mirrored copy. In training mode the encoder as it is.

    ``size`` None keeps the size of the pictures; the encoder inside must take pictures of this size. Both
    views count alike where embeddings have one length, as with ``layer_norm``, and nearly so without.
    ``middle`` shows the encoder only the middle square of so many pixels, cut out and not resized, in
    training mode too: what `RandomCrop` has cut to that size is its own middle. None shows all.
    """

    came_later = ("middle",)
    encoder: Any

    def __init__(
        self, *, encoder: nn.Module, size: int | None = None, mirror: bool = True, middle: int | None = None
    ) -> None:
        super().__init__()
        expect_sizes({"size": size, "middle": middle})
        self.encoder = encoder
        self.size = size
        self.mirror = mirror
        self.middle = middle

    def views(self, x: Tensor) -> list[Tensor]:
        """The pictures as the encoder gets them: one view in training mode, else one or two."""
        if self.training:
            return [cut(x, self.middle)]
        x = cut(resized(x, self.size), self.middle)
        return [x, x.flip(-1)] if self.mirror else [x]

    def features(self, x: Tensor) -> Tensor:
        """The mean of the features of the views."""
        return _mean([self.encoder.features(view) for view in self.views(x)])

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        """The output of each stage of the encoder, for the unchanged pictures, or their middle."""
        maps: dict[str, Tensor] = self.encoder.maps(cut(x, self.middle))
        return maps

    def forward(self, x: Tensor) -> Tensor:
        return _mean([self.encoder(view) for view in self.views(x)])


def resized(x: Tensor, size: int | None) -> Tensor:
    """Pictures (n, channels, height, width) with sides of ``size`` pixels; None leaves them as they are.
    Raises DataError for anything but pictures.
    """
    if size is None or (x.dim() == 4 and x.shape[2:] == (size, size)):
        return x
    if x.dim() != 4 or 0 in x.shape[1:]:
        raise DataError(f"the encoder takes pictures (n, channels, height, width); got {tuple(x.shape)}")
    if exporting():
        return resized_by_matrices(x, size)
    if not len(x):
        return x.new_empty(0, x.shape[1], size, size)
    return F.interpolate(x, size=(size, size), mode="bilinear", antialias=True)


def cut(x: Tensor, middle: int | None) -> Tensor:
    """The middle of pictures, ``middle`` pixels along and across; None leaves them as they are. Raises
    DataError for pictures that are smaller.
    """
    if middle is None or x.shape[2:] == (middle, middle):
        return x
    if x.dim() != 4 or min(x.shape[2:]) < middle:
        raise DataError(f"the encoder looks at the middle {middle} pixels of pictures; got {tuple(x.shape)}")
    top, left = ((side - middle) // 2 for side in x.shape[2:])
    return x[:, :, top : top + middle, left : left + middle]


def _mean(views: list[Tensor]) -> Tensor:
    return sum(views[1:], start=views[0]) / len(views)
