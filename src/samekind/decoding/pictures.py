"""A file of a picture to the bytes of an item: decoded, resized, cut, with the plane of its size."""

from typing import BinaryIO, NamedTuple

import numpy as np

from samekind.decoding import pixels
from samekind.decoding.pixels import WHITE, Background, Fit, Pixels
from samekind.decoding.size_plane import size_plane


class PictureForm(NamedTuple):
    """The form in which pictures are read; the fields are the arguments of `samekind.data.ImageReader`."""

    height: int
    width: int
    channels: int = 1
    fit: Fit = "stretch"
    background: Background = "white"
    cut_from: tuple[int, int] | None = None
    white: int = WHITE
    original_size: bool = False

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.channels + self.original_size, self.height, self.width

    @property
    def brought_to(self) -> tuple[int, int]:
        """Height and width before the middle is cut out."""
        return self.cut_from or (self.height, self.width)

    def read(self, stream: BinaryIO) -> Pixels:
        """The picture in a file, (channels, height, width). Pillow's decoders fail in many ways."""
        planes = []
        if self.original_size:
            sides = pixels.heading(stream)
            stream.seek(0)
            planes = [size_plane(sides.height, sides.width, rows=self.height, columns=self.width)[None]]
        height, width = self.brought_to
        decoded = pixels.decode(
            stream,
            height=height,
            width=width,
            channels=self.channels,
            fit=self.fit,
            background=self.background,
            white=self.white,
        )
        return np.concatenate([self.middle(decoded).transpose(2, 0, 1), *planes])

    def middle(self, image: Pixels) -> Pixels:
        """The middle of a picture in the larger size, (h, w, channels) -> (height, width, channels)."""
        top, left = (self.brought_to[0] - self.height) // 2, (self.brought_to[1] - self.width) // 2
        return image[top : top + self.height, left : left + self.width]
