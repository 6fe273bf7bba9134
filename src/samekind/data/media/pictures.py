"""Pictures: image files, and arrays of bytes or of floats in [0, 1] with 1 or 3 channels."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from samekind.data.files import Readable, is_array, name_of, opened
from samekind.data.media.arrays import read_array
from samekind.data.media.attacked import SHARES, Attacked, Range
from samekind.data.media.medium import Medium, Problem, Shape, Suited, can_be_shown, named_problem, scaled
from samekind.data.media.original_size import colours_of, without_size
from samekind.data.settings import DataSettings
from samekind.data.words import named
from samekind.decoding import pixels
from samekind.decoding.pictures import PictureForm
from samekind.decoding.pixels import MODES, WHITE, Background, Fit, Pixels
from samekind.decoding.size_plane import size_plane
from samekind.errors import DataError, SettingError

if TYPE_CHECKING:
    from samekind.data.items import Items

ENDINGS = frozenset({".avif", ".bmp", ".gif", ".jfif", ".jp2", ".jpeg", ".jpg", ".pbm", ".pgm", ".png"})
ENDINGS |= {".ppm", ".tga", ".tif", ".tiff", ".webp"}

#: The values of a pixel, and how far attacks change them.
RANGE = Range(0.0, 1.0, "in the range of a pixel, 0 to 1")
EPSILONS = {
    "linf": (2 / 255, 4 / 255, 8 / 255, 16 / 255, 32 / 255),
    "l2": (0.125, 0.25, 0.5, 1.0, 2.0),
    "l1": (1.0, 2.0, 5.0, 10.0, 20.0),
    "snr": SHARES,
}

#: Pixels a side from which a network pretrained on photographs is worth its time.
LARGE = 64


class ImageReader:
    """Image files, or .npy arrays, as (channels, height, width).

    An image is turned as its EXIF data say, laid on the ``background`` where it is transparent, made grey
    (1 channel) or colour (3), and resized: ``fit`` "stretch" gives up the proportions, "crop" cuts off the
    edges, "pad" keeps the whole image on the background (and does not enlarge it). With ``cut_from`` (height,
    width) it is resized to that, and the middle is cut out. ``white`` is the value of 16-bit greys that is
    white: 4095 for a camera of 12 bits. ``original_size`` adds the plane of `original_size`, with the width
    and height before resizing: one more channel. `read` gives float32 in [0, 1], `pixels` bytes. An array
    must have the right shape, without the plane; uint8 is scaled to [0, 1], floats are not changed.
    """

    came_later = ("cut_from", "white", "original_size")
    columns: tuple[str, ...] = ()
    dtype = torch.uint8

    def __init__(
        self,
        *,
        height: int,
        width: int,
        channels: int = 1,
        fit: Fit = "stretch",
        background: Background = "white",
        cut_from: Sequence[int] | None = None,
        white: int = WHITE,
        original_size: bool = False,
    ) -> None:
        if channels not in MODES:
            raise SettingError(f"images are read with 1 channel (grey) or 3 (colour); got {channels}")
        if height < 1 or width < 1:
            raise SettingError(f"height and width must be at least 1; got {height} and {width}")
        if fit not in ("stretch", "crop", "pad"):
            raise SettingError(f'fit must be "stretch", "crop" or "pad"; got "{fit}"')
        if background not in ("white", "black"):
            raise SettingError(f'background must be "white" or "black"; got "{background}"')
        if not 1 <= white <= WHITE:
            raise SettingError(f"white is a value of 16 bits, from 1 to {WHITE}; got {white}")
        if original_size and height < 2:
            raise SettingError(f"original_size needs pictures of 2 pixels or more in height; got {height}")
        brought_to = (height, width) if cut_from is None else tuple(cut_from)
        if len(brought_to) != 2 or brought_to[0] < height or brought_to[1] < width:
            raise SettingError(
                f"cut_from is height and width, no less than {height} and {width}; got {list(brought_to)}"
            )
        self.height = height
        self.width = width
        self.channels = channels
        self.fit = fit
        self.background = background
        self.cut_from = None if cut_from is None else brought_to
        self.white = white
        self.original_size = original_size
        self._brought_to = brought_to  # part of the fingerprint of stored items

    @property
    def shape(self) -> tuple[int, ...]:
        return self._form.shape

    @property
    def _form(self) -> PictureForm:
        return PictureForm(**{name: getattr(self, name) for name in PictureForm._fields})

    @property
    def medium(self) -> Medium:
        return PICTURES

    def read(self, file: Readable) -> Tensor:
        """The image in the file, or the array, as float32."""
        if not is_array(file):
            return scaled(self.pixels(file))
        image = read_array(file, without_size(self.shape))
        return self.with_size(image[None], height=self.height, width=self.width)[0]

    def pixels(self, file: Readable) -> Tensor:
        """The image in the file as uint8 (channels, height, width)."""
        image = torch.empty(self.shape, dtype=torch.uint8)
        self.read_into(file, image.numpy())
        return image

    def read_into(self, file: Readable, place: Pixels) -> None:
        """The image in the file, written to ``place``: uint8 (channels, height, width)."""
        try:
            with opened(file) as stream:
                place[:] = self._form.read(stream)
        except FileNotFoundError:
            raise DataError(f"there is no file {name_of(file)}; {self._expected()}") from None
        # Pillow's decoders fail in a dozen ways on a broken file, and all mean the same to the user.
        except Exception as error:
            raise DataError(
                f"cannot read {name_of(file)}: {pixels.reason(error)}; {self._expected()}"
            ) from error

    def refit(self, image: Pixels) -> Pixels:
        """A decoded picture (h, w, 1 or 3) as (height, width, channels)."""
        resized = pixels.refit(
            image,
            height=self._form.brought_to[0],
            width=self._form.brought_to[1],
            channels=self.channels,
            fit=self.fit,
            background=self.background,
        )
        return self._form.middle(resized)

    def with_size(self, images: Tensor, *, height: int, width: int) -> Tensor:
        """Pictures (n, channels, …) with the plane of the size that they had, if the reader adds it."""
        if not self.original_size:
            return images
        plane = torch.from_numpy(size_plane(height, width, rows=self.height, columns=self.width))
        plane = plane if images.dtype == torch.uint8 else scaled(plane)
        return torch.cat([images, plane.expand(len(images), 1, -1, -1)], dim=1)

    def _expected(self) -> str:
        return f"expected an image or a .npy array of shape {without_size(self.shape)}"


def refitted(images: Tensor, reader: ImageReader) -> Tensor:
    """Pictures in memory, uint8 (n, 1 or 3, …), in the shape that the reader gives."""
    if tuple(images.shape[1:]) == reader.shape and reader.cut_from is None:
        return images
    refit = torch.empty(len(images), *without_size(reader.shape), dtype=torch.uint8)
    for place, image in enumerate(images):
        resized = reader.refit(image.permute(1, 2, 0).contiguous().numpy())
        refit[place] = torch.from_numpy(resized.transpose(2, 0, 1).copy())
    return reader.with_size(refit, height=images.shape[2], width=images.shape[3])


def _refitted(rows: Tensor, reader: ImageReader) -> Tensor:
    """Pictures of bytes (n, channels, height, width) are resized, floats of the right shape get the plane of
    their size; other rows are returned as they are.
    """
    if rows.dtype == torch.uint8 and rows.dim() == 4:
        return refitted(rows, reader)
    fits = tuple(rows.shape[1:]) == without_size(reader.shape)
    return reader.with_size(rows, height=reader.height, width=reader.width) if fits else rows


def picture_reader(height: int, width: int, channels: int, settings: DataSettings) -> ImageReader:
    """The reader of pictures of this size and these channels; what the settings say goes before."""
    height, width = settings.sides or (height, width)
    return ImageReader(
        height=height,
        width=width,
        channels=settings.channels or channels,
        fit=settings.fit,
        background=settings.background,
        cut_from=settings.larger_sides,
        white=settings.white,
        original_size=settings.original_size,
    )


def is_blank(pictures: Tensor) -> Tensor:
    """Which pictures (n, channels, height, width) have one colour everywhere: (n,)."""
    flat = colours_of(pictures).flatten(2)
    return (flat == flat[:, :, :1]).flatten(1).all(1)


def blank_problem(names: Sequence[str]) -> Iterator[Problem]:
    """The warning about blank pictures, if there are any."""
    return named_problem(names, "picture is", "pictures are", "blank, one colour all over")


def _problems(items: "Items") -> Iterator[Problem]:
    if isinstance(items.inputs, Tensor) and len(items):
        blank = is_blank(items.inputs).nonzero().flatten().tolist()
        yield from blank_problem([named(items, place) for place in blank])


def _encoder(shape: Shape) -> Suited:
    """A small convnet up to 32 pixels (28 grey ones: a LeNet); ResNet-18 above, and if not square."""
    channels, height, width = shape
    if max(height, width) > 32:
        return Suited("ResNet18", {"stem": "imagenet"})
    if height != width or (channels, width) == (3, 32):
        return Suited("ResNet18", {"stem": "cifar"})
    return Suited("LeNet" if (channels, width) == (1, 28) else "SmallConvnet", {})


def _augmentations(shape: Shape) -> tuple[Suited, ...]:
    """Colour pictures are cropped and mirrored; grey ones, which may be writing, are not."""
    return (Suited("RandomResizedCrop", {}), Suited("Flip", {})) if shape[0] == 3 else ()


def picture_stem(path: PurePath) -> str:
    """The name of an item without the ending of a picture or an array; other endings stay.

    >>> picture_stem(PurePath("owls/a.jpg")), picture_stem(PurePath("row 1.5"))
    ('a', 'row 1.5')
    """
    return path.stem if PICTURES.takes(path.suffix) else path.name


def _reader(shape: Shape) -> ImageReader:
    channels, height, width = without_size(shape)
    return ImageReader(height=height, width=width, channels=channels, original_size=shape[0] != channels)


PICTURES = Medium(
    name="pictures",
    endings=ENDINGS,
    settings=("size", "channels", "fit", "original_size", "skip_unreadable"),
    seen=without_size,
    reader=_reader,
    encoder=_encoder,
    pretrained=lambda shape: min(shape[1:]) >= LARGE,
    augmentations=_augmentations,
    family=lambda _: "images",
    units=lambda _: "channels",
    standardise=False,  # they are in [0, 1]
    problems=_problems,
    shows=can_be_shown,
    decoder=lambda reader, files: None if any(map(is_array, files)) else reader,
    refitted=_refitted,
    colours=True,
    attacked=lambda _: Attacked(RANGE, EPSILONS),
)
