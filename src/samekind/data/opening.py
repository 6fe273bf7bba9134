"""Opening of labelled data: a name, a folder or a file to items."""

import os
from dataclasses import replace
from pathlib import Path

from samekind.data.class_tree import with_taxonomy
from samekind.data.files import is_array
from samekind.data.items import Items, Source
from samekind.data.media import SOUNDS, medium_of_files
from samekind.data.media.waves import Heading
from samekind.data.settings import DataSettings, or_usual
from samekind.data.sources import expect_source, format_of
from samekind.data.sources.listing import Listing
from samekind.data.sources.loading import load, read_sound_headings, reader_of_files
from samekind.data.sources.named import is_named
from samekind.data.stored import Stored


def open_data(source: str | Path, *, settings: DataSettings | None = None) -> Items:
    """The items of a source: a name such as ``digits``, or the path of a file or folder in one of the formats
    of `samekind.data.sources`. docs/start.md shows each of them.

    >>> len(open_data("digits"))
    1797
    """
    settings = or_usual(settings)
    content = open_source(source, settings)
    items = load(content, settings) if isinstance(content, Listing) else content
    if isinstance(content, Listing) and items.source is not None:
        settings = items.source.settings  # with the size that was chosen for pictures of several sizes
    if settings.taxonomy is not None:
        settings = replace(settings, taxonomy=os.path.abspath(settings.taxonomy))  # noqa: PTH100 (as below)
        items = with_taxonomy(items, str(settings.taxonomy))
    name = str(source) if is_named(source) else os.path.abspath(source)  # noqa: PTH100 (links stay as they are)
    return replace(items, source=Source(name, settings))


def open_source(source: str | Path, settings: DataSettings) -> Items | Listing:
    """The items of a source, or the files that it consists of, one for each item."""
    expect_source(source)
    return format_of(source, settings).labelled(Path(source), settings)


def memory_needed(source: str | Path, *, settings: DataSettings | None = None) -> int:
    """The bytes that the items of a source take once they are decoded.

    Only the start of each picture or sound is read, and of a picture not even that if size and channels are
    given. Tables and arrays are always in memory, and opened to be counted.
    """
    settings = or_usual(settings)
    content = open_source(source, settings)
    if isinstance(content, Items):
        return content.inputs.nbytes
    if not content.files or any(map(is_array, content.files)):
        return load(content, settings).inputs.nbytes
    if medium_of_files(map(str, content.files)) is SOUNDS:
        rate = settings.rate or 16000
        headings = read_sound_headings(content.files, settings)
        return sum(
            2 * heading.samples_at(rate, settings.seconds)
            for heading in headings
            if isinstance(heading, Heading)
        )
    reading = reader_of_files(content.files, settings)
    return Stored([content.files[place] for place in reading.readable], reading.reader).nbytes
