"""Warnings about pictures that are read almost black, or with their brightest greys clipped.

A camera of 12 bits writes 16-bit files, in which 4,095 may be white or a dark grey. That is not guessed: the
user is told.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.data.files import File, opened
from samekind.data.media.headings import read_headings
from samekind.data.media.original_size import colours_of
from samekind.data.media.pictures import ImageReader
from samekind.data.stored import Stored, decode_all, pool
from samekind.decoding import pixels
from samekind.decoding.pixels import WHITE, Heading

#: A picture whose highest byte is below this uses less than a quarter of the range.
DARK = 64

#: How many of the pictures that stay on the disk are looked at.
LOOKED_AT = 16

SAY = "--set data.white={white} (white in a run file or in DataSettings)"


def about_brightness(inputs: Tensor | Stored, files: Sequence[File], reader: ImageReader) -> str | None:
    """The warning about pictures read from files, or about a sample of stored ones; None if all is well."""
    if not isinstance(inputs, Stored):
        return brightness(brightest(inputs), files, reader)
    places = torch.linspace(0, len(files) - 1, min(len(files), LOOKED_AT)).long().tolist()
    decoded, readable, _ = decode_all([files[place] for place in places], reader, workers=inputs.workers)
    return brightness(brightest(decoded), [files[places[row]] for row in readable], reader)


def brightest(pixels: Tensor) -> Tensor:
    """The highest byte of each picture (n, channels, height, width): (n,)."""
    return colours_of(pixels).flatten(1).amax(1) if len(pixels) else pixels.new_empty(0)


def brightness(highest: Tensor, files: Sequence[File], reader: ImageReader) -> str | None:
    """The warning about pictures whose highest bytes (n,) are known; None if all are black, which `is_blank`
    reports.

    If the reader has its own white, a sample of the pictures that may be clipped is decoded again; else the
    dark ones are.
    """
    dark = highest < DARK
    if not highest.any():
        return None
    if reader.white != WHITE:
        # A clipped picture has a byte of 255, like many pictures of 8 bits.
        full = (highest == 255).nonzero().flatten().tolist()
        brightest_first = highest.argsort(descending=True, stable=True).tolist()
        deep = _deep(files, full) or _deep(files, brightest_first[:LOOKED_AT])
        if deep:
            chosen = torch.linspace(0, len(deep) - 1, min(len(deep), LOOKED_AT)).long().tolist()
            return _of_16_bits([files[deep[row]] for row in chosen], reader.white)
    # A dark picture of 8 bits says nothing about others of 16 bits.
    elif deep := _deep(files, dark.nonzero().flatten().tolist()):
        bright = (~dark).nonzero().flatten().tolist()
        return None if _deep(files, bright) else _of_16_bits([files[place] for place in deep], WHITE)
    if not dark.all():
        return None
    return (
        f"the pictures are dark: no value is above {int(highest.max())} of 255 ({len(files)} looked at); "
        "--set space.standardise=channels brings them to the range that the network is made for"
    )


def _deep(files: Sequence[File], places: list[int]) -> list[int]:
    """The places that have a picture of 16 bits."""
    headings = read_headings([files[place] for place in places])
    return [
        place
        for place, heading in zip(places, headings, strict=True)
        if isinstance(heading, Heading) and heading.deep
    ]


def _of_16_bits(files: Sequence[File], white: int) -> str | None:
    """The warning by the values of 16-bit pictures, which are decoded once more."""
    most = max(pool(0).map(_highest, files))
    say = SAY.format(white=2 ** most.bit_length() - 1)
    if most > white:
        return (
            f"16-bit pictures have values up to {most:,}; white is {white:,}, and values above it are cut "
            f"off ({len(files)} looked at); to change this, use {say}"
        )
    if not 0 < most < white / 4:
        return None
    return (
        f"16-bit pictures have values up to {most:,} only; white is {white:,}; they appear almost black "
        f"({len(files)} looked at); if their camera has fewer bits, use {say}"
    )


def _highest(file: File) -> int:
    with opened(file) as stream:
        return pixels.highest(stream)
