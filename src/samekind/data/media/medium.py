"""The protocol of a medium, a kind of item: pictures, sounds, vectors, arrays.

A medium names encoders and augmentations as plain values, because those rooms are built on this one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from samekind.acoustics import as_floats, padded
from samekind.data.files import Readable
from samekind.data.media.attacked import Attacked
from samekind.data.media.image_files import write_image
from samekind.data.media.original_size import colours_of
from samekind.data.words import counted, listed

if TYPE_CHECKING:
    from samekind.data.items import Items
    from samekind.data.media import Decoder, Reader

Shape = Sequence[int]
Units = Literal["features", "channels"]
Family = Literal["images", "vectors", "sounds"]


class Problem(NamedTuple):
    """An "error" makes training pointless or impossible; a "warning" may be intended."""

    severity: Literal["error", "warning"]
    sentence: str


def named_problem(
    names: Sequence[str], one: str, many: str, what: str, severity: Literal["error", "warning"] = "warning"
) -> Iterator[Problem]:
    """A problem that counts and lists names, if there are any: "2 classes have no items: a, b"."""
    if names:
        yield Problem(severity, f"{counted(len(names), one, many)} {what}: {listed(names)}")


class Suited(NamedTuple):
    """An encoder or an augmentation as name and arguments."""

    name: str
    arguments: dict[str, Any]


class Window(NamedTuple):
    """A part of a long item, from one time to another, in seconds, and whether anything is heard in it."""

    item: Tensor
    start: float
    end: float
    audible: bool


def scaled(x: Tensor) -> Tensor:
    """uint8 (…) in 0 to 255 as float32 in 0 to 1, and int16 as float32 in -1 to 1; floats are returned as
    they are.

    Pictures are kept as bytes, a quarter of the memory, and sounds as 16-bit samples, half of it. Both become
    numbers on the device. The padding of sounds becomes NaN.

    >>> scaled(torch.tensor([0, 51, 255], dtype=torch.uint8)).tolist()
    [0.0, 0.20000000298023224, 1.0]
    """
    if x.dtype == torch.int16:
        return as_floats(x)
    # True division gives floats at once: a GPU need not write them twice.
    return x / 255 if x.dtype == torch.uint8 else x


def displayed(x: Tensor) -> Tensor:
    """Maps (…, 1 to 4, height, width) as floats (…, 1 or 3, height, width) in [0, 1]; floats outside it are
    squeezed in together. A second or fourth channel is left out: in pictures it is the plane of their size.
    """
    values = scaled(colours_of(x.detach().cpu())).float()
    low, high = (float(values.min()), float(values.max())) if values.numel() else (0.0, 1.0)
    return values if low >= 0 and high <= 1 else (values - low) / max(high - low, 1e-12)


def has_pixels(shape: Shape) -> bool:
    """Whether items of this shape are grey or colour maps: (1 or 3, height, width)."""
    return len(shape) == 3 and shape[0] in (1, 3)


def can_be_shown(shape: Shape) -> bool:
    """Whether `displayed` takes items of this shape: (1 to 4, height, width)."""
    return len(shape) == 3 and 1 <= shape[0] <= 4


def random_bytes(shape: Shape, count: int, generator: torch.Generator) -> Tensor:
    """Random items (count, …) of bytes."""
    return torch.randint(0, 256, (count, *shape), dtype=torch.uint8, generator=generator)


def write_colours(path: Path, item: Tensor, _reader: Any) -> None:
    """Write an item (1 to 4, height, width) as PNG, without the plane of its size."""
    write_image(path, colours_of(item).clamp(0, 1))


@dataclass(frozen=True)
class Medium:
    """One kind of item. Functions of a shape take that of one item, without the batch.

    ``endings`` are those of files with one item each; with ``arrays`` a .npy file may hold one too.
    ``settings`` are the fields of `DataSettings` that matter for it. ``seen`` is the shape that networks and
    augmentations see: without the plane of the original size, if pictures have one; the others take it.
    ``reader`` makes the reader for a shape, ``encoder`` names a network for them, ``pretrained`` says whether
    networks trained on photographs suit them, ``augmentations`` names those that a recipe may use unasked,
    ``family`` the group of all that fit. ``units`` is what means and deviations are taken over, None if
    nothing; with ``standardise`` recipes divide by them. ``problems`` says what looks wrong in a set of
    items, ``shows`` whether reports can show items of a shape, ``decoder`` gives the reader back if it can
    leave these files where they are and decode each when it is needed, ``refitted`` brings rows (n, …) in
    memory to the shape of the reader where that is possible, ``facts`` says what encoders and augmentations
    may take from a shape and a reader, ``plain`` names the encoder without weights that stands for the raw
    input, and ``raw_input`` says what that is. ``extent`` says in words how large an item is, ``thumbnails``
    turns a batch of items into (n, 1 or 3, height, width) in [0, 1], ``legend`` says how a thumbnail is read
    if that is not plain, and ``windows`` cuts a file into windows of so many seconds, where items have a
    duration; None where they have none. ``unheard`` says which of a batch, by a reader, hold nothing to
    know them by, such as silence; None where that cannot be.

    With ``padded`` items differ in length, and a batch is filled with NaN at the end. With ``colours`` an
    item is colours in [0, 1] on a grid: it can be drawn on, and corrupted as a photograph is. ``attacked``
    says what an attack may do to items of a shape, None if it can do nothing, ``noise`` makes random items,
    and ``write`` writes one to a file with this ``ending``.
    """

    name: str
    reader: "Callable[[Shape], Reader]"
    encoder: Callable[[Shape], Suited]
    units: Callable[[Shape], Units | None]
    endings: frozenset[str] = frozenset()
    arrays: bool = True
    settings: tuple[str, ...] = ()
    seen: Callable[[Shape], tuple[int, ...]] = tuple
    standardise: bool = True
    pretrained: Callable[[Shape], bool] = lambda _: False
    augmentations: Callable[[Shape], tuple[Suited, ...]] = lambda _: ()
    family: Callable[[Shape], Family | None] = lambda _: None
    padded: bool = False
    colours: bool = False
    problems: "Callable[[Items], Iterator[Problem] | tuple[()]]" = lambda _: ()
    shows: Callable[[Shape], bool] = lambda _: False
    decoder: "Callable[[Any, Iterable[Readable]], Decoder | None]" = lambda _reader, _files: None
    refitted: Callable[[Tensor, Any], Tensor] = lambda rows, _: rows
    facts: Callable[[Shape, Any], dict[str, Any]] = lambda _shape, _reader: {}
    plain: Callable[[Shape], Suited] = lambda _: Suited("Unchanged", {})
    raw_input: str = "raw inputs"
    extent: Callable[[Shape], str] = lambda shape: " x ".join(map(str, shape))
    thumbnails: Callable[[Tensor], Tensor] = displayed
    legend: str = ""
    windows: Callable[[Any, Readable, float], Iterator[Window]] | None = None
    unheard: Callable[[Tensor, Any], Tensor] | None = None
    attacked: Callable[[Shape], Attacked | None] = lambda _: Attacked()
    noise: Callable[[Shape, int, torch.Generator], Tensor] = random_bytes
    ending: str = ".png"
    write: Callable[[Path, Tensor, Any], None] = write_colours

    def takes(self, ending: str) -> bool:
        """Whether a file with this ending may hold an item."""
        return ending.lower() in self.endings or (self.arrays and ending.lower() == ".npy")

    def batch(self, items: Sequence[Tensor]) -> Tensor:
        """Single items as one tensor (n, …)."""
        return padded(items) if self.padded else torch.stack(list(items))


def laid_out(items: Tensor) -> Tensor:
    """Items (n, …) as networks on the CPU are fastest with them: pictures with their channels last."""
    if not has_pixels(items.shape[1:]) or items.device.type != "cpu":
        return items
    return items.contiguous(memory_format=torch.channels_last)
