"""Turns a listing of files into items: decoded into memory, or read from the files when they are needed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from samekind.data.files import File, is_array
from samekind.data.items import Items, Source
from samekind.data.media import (
    PICTURES,
    SOUNDS,
    ImageReader,
    Reader,
    SoundReader,
    medium_of,
    medium_of_files,
    waves,
)
from samekind.data.media.arrays import ArrayReader, looks_like_pictures, stacked_arrays
from samekind.data.media.brightness import about_brightness
from samekind.data.media.headings import read_headings, reader_of, size_chosen
from samekind.data.media.pictures import picture_reader, refitted
from samekind.data.settings import DataSettings
from samekind.data.sources.listing import Listing, about_sounds, class_order, foreign_files
from samekind.data.stored import Stored, decode_all, pool, unreadable_files
from samekind.data.words import counted, listed
from samekind.errors import MOST_LISTED, DataError, nearest

T = TypeVar("T")


def load(listing: Listing, settings: DataSettings) -> Items:
    """The items of a listing. Raises DataError that names every file that cannot be read, unless they are to
    be skipped.

    Pictures that go into memory are decoded here. Only the start of the others is read: damage further
    inside is reported when they are needed, or by `examine`.
    """
    arrays = [is_array(file) for file in listing.files]
    if not listing.files:
        raise DataError(
            f"{listing.name} has no pictures, sounds or arrays; expected folders of them, one for each class"
            + about_sounds(listing.foreign)
        )
    if any(arrays) and not all(arrays):
        raise DataError(
            f"{listing.name} has {sum(arrays)} .npy arrays among {len(arrays)} files; "
            "give pictures or arrays, not both"
        )
    if all(arrays):
        return in_memory(stacked_arrays(listing.files), listing, settings)
    medium = medium_of_files(map(str, listing.files))
    other = [str(file) for file in listing.files if not medium.takes(file.suffix)]
    if other and medium is SOUNDS:
        raise DataError(f"{listing.name} names sounds and other files: {listed(other)}; give sounds alone")
    return load_sounds(listing, settings)[0] if medium is SOUNDS else _pictures(listing, settings)


def in_memory(inputs: Tensor, listing: Listing, settings: DataSettings) -> Items:
    """Items whose inputs (n, …) are in memory, with their reader; pictures get the size of the settings."""
    inputs, reader, note = fitted(inputs, settings)
    items = labelled(inputs, listing, settings)
    return replace(items, reader=reader, notes=(*items.notes, *([note] if note else [])))


def fitted(inputs: Tensor, settings: DataSettings) -> tuple[Tensor, Reader | None, str]:
    """Items (n, …) brought to the size and colours of the settings, the reader of more like them, and a note
    about arrays that might be taken for pictures.
    """
    shape = tuple(inputs.shape[1:])
    if medium_of(shape) is PICTURES and inputs.dtype == torch.uint8:
        channels, height, width = shape
        reader = picture_reader(height, width, channels, settings)
        return refitted(inputs, reader), reader, ""
    for name in ("size", "original_size"):
        if getattr(settings, name):
            raise DataError(f"{name} is for pictures of bytes; these items are {shape} floats")
    if medium_of(shape) is PICTURES and not looks_like_pictures(inputs):
        low, high = (float(value) for value in inputs.aminmax()) if len(inputs) else (0.0, 1.0)
        if low >= 0 and high <= 1:
            note = (
                f"the arrays {shape} are far from square and are read as arrays, not as pictures; "
                "save pictures of this shape as bytes (uint8)"
            )
        else:
            note = (
                f"the arrays {shape} have values from {low:g} to {high:g} and are read as arrays, not as "
                "pictures, which are bytes or floats in [0, 1]"
            )
        return inputs, ArrayReader(shape=shape), note
    medium = medium_of(shape)
    return inputs, medium.reader(shape) if medium.units(shape) else None, ""


def labelled(
    inputs: Tensor | Stored, listing: Listing, settings: DataSettings, places: Sequence[int] | None = None
) -> Items:
    """Inputs with all that the listing knows; ``places`` are those of their files, by default all."""
    places = range(len(listing.labels)) if places is None else places
    names = [listing.labels[place] for place in places]
    classes = settings.classes or tuple(class_order(names))
    index = {name: place for place, name in enumerate(classes)}
    unknown = sorted(set(names) - set(classes))
    if unknown:
        quoted = ", ".join(f'"{name}"' for name in unknown[:MOST_LISTED])
        raise DataError(
            f"{listing.name} has labels outside the given classes: {quoted}; "
            f"for the first, {nearest(unknown[0], classes)}"
        )
    domains, domain_names = numbered(listing.domains, places)
    groups, _ = numbered(listing.groups, places)
    return Items(
        inputs=inputs,
        labels=torch.tensor([index[name] for name in names], dtype=torch.int64),
        classes=classes,
        name=listing.name,
        domains=domains,
        domain_names=domain_names,
        groups=groups,
        parts=None if listing.parts is None else tuple(listing.parts[place] for place in places),
        ids=tuple(listing.ids[place] for place in places),
        notes=tuple(_left_out(listing)),
    )


def numbered(texts: Sequence[str] | None, places: Sequence[int]) -> tuple[Tensor | None, tuple[str, ...]]:
    """Texts as numbers (n,), and the different texts in the order of their numbers."""
    if texts is None:
        return None, ()
    names = class_order([texts[place] for place in places])
    index = {name: place for place, name in enumerate(names)}
    return torch.tensor([index[texts[place]] for place in places], dtype=torch.int64), tuple(names)


def readable_files(
    files: Sequence[File], reader: Any, settings: DataSettings
) -> tuple[Tensor | Stored, list[int], list[tuple[str, str]]]:
    """Pictures or sounds in memory or stored, their places, and (file, reason) of unreadable ones."""
    if reader.medium is SOUNDS:
        return _readable_sounds(files, read_sound_headings(files, settings), reader, settings)
    return readable_pictures(files, reader, settings)


def read_sound_headings(files: Sequence[File], settings: DataSettings) -> list[waves.Heading | DataError]:
    """The heading of each sound, or the reason why it cannot be read; nothing is decoded."""

    def attempt(file: File) -> waves.Heading | DataError:
        try:
            return waves.heading(file)
        except DataError as error:
            return error

    return list(pool(settings.workers).map(attempt, files))


def load_sounds(listing: Listing, settings: DataSettings) -> tuple[Items, list[tuple[str, str]]]:
    """The sounds of a listing, and (file, reason) of those that were skipped. Raises DataError that names
    every file that cannot be read, unless they are to be skipped.
    """
    headings = read_sound_headings(listing.files, settings)
    rates = [heading.rate for heading in headings if isinstance(heading, waves.Heading)]
    rate = settings.rate or (8000 if rates and max(rates) <= 8000 else 16000)
    reader = SoundReader(rate=rate, seconds=settings.seconds)
    stored, places, unreadable = _readable_sounds(listing.files, headings, reader, settings)
    if not places or (unreadable and not settings.skip_unreadable):
        raise unreadable_files(unreadable, len(listing.files))
    items = labelled(stored, listing, settings, places)
    longer = sum(
        isinstance(heading, waves.Heading) and heading.seconds > reader.seconds for heading in headings
    )
    notes = [f"skipped: {reason}" for _, reason in unreadable]
    if longer:
        which = counted(longer, "sound is", "sounds are")
        notes.append(
            f"{which} longer than {reader.seconds:g} seconds, of which the middle is read; "
            "--set data.seconds=… reads more"
        )
    return replace(items, reader=reader, notes=(*items.notes, *notes)), unreadable


def _readable_sounds(
    files: Sequence[File],
    headings: Sequence[waves.Heading | DataError],
    reader: SoundReader,
    settings: DataSettings,
) -> tuple[Stored, list[int], list[tuple[str, str]]]:
    """Sounds with these headings, held in memory as the settings say; as `readable_files`."""
    whole, readable, unreadable = told_apart(files, headings)
    chosen = [files[place] for place in readable]
    lengths = (heading.samples_at(reader.rate, reader.seconds) for heading in whole)
    sizes = dict(zip(chosen, lengths, strict=True))
    stored = Stored(chosen, reader, workers=settings.workers, stays=True, sizes=sizes)
    if settings.memory == "always" or (settings.memory == "auto" and stored.nbytes <= settings.memory_limit):
        failed = dict(stored.hold())
        unreadable += [(str(chosen[place]), str(reason)) for place, reason in failed.items()]
        rows = [row for row in range(len(chosen)) if row not in failed]
        stored, readable = stored.take(torch.tensor(rows, dtype=torch.int64)), [readable[row] for row in rows]
    return stored, readable, unreadable


def readable_pictures(
    files: Sequence[File], reader: ImageReader, settings: DataSettings, *, checked: bool = False
) -> tuple[Tensor | Stored, list[int], list[tuple[str, str]]]:
    """Pictures in memory or stored, as the settings say, their places, and (file, reason) of unreadable ones.

    ``checked``: the start of every file has been read already.
    """
    stored = Stored(files, reader, workers=settings.workers, stays=settings.memory == "never")
    if settings.memory == "always" or (settings.memory == "auto" and stored.nbytes <= settings.memory_limit):
        return decode_all(files, reader, workers=settings.workers)
    if checked:
        return stored, list(range(len(files))), []
    _, readable, unreadable = told_apart(files, read_headings(files, workers=settings.workers))
    return stored.take(torch.tensor(readable, dtype=torch.int64)), readable, unreadable


class Reading(NamedTuple):
    """The reader of pictures, the places of those that can be read, and (file, reason) of the others; the
    settings with a size, and a sentence about it, where the pictures have several.
    """

    reader: ImageReader
    readable: list[int]
    unreadable: list[tuple[str, str]]
    chosen: tuple[DataSettings, str] | None = None


def reader_of_files(files: Sequence[File], settings: DataSettings) -> Reading:
    """How these pictures are read. No file is opened if the settings say both size and channels."""
    if settings.sides is not None and settings.channels is not None:
        return Reading(
            picture_reader(*settings.sides, settings.channels, settings), list(range(len(files))), []
        )
    headings, readable, unreadable = told_apart(files, read_headings(files, workers=settings.workers))
    if not readable:
        raise unreadable_files(unreadable, len(files))
    return Reading(reader_of(headings, settings), readable, unreadable, size_chosen(headings, settings))


def told_apart(
    files: Sequence[File], headings: Sequence[T | DataError]
) -> tuple[list[T], list[int], list[tuple[str, str]]]:
    """The headings of the files that have one, their places, and (file, reason) of the others."""
    whole, readable, unreadable = [], [], []
    for place, heading in enumerate(headings):
        if isinstance(heading, DataError):
            unreadable.append((str(files[place]), str(heading)))
        else:
            whole.append(heading)
            readable.append(place)
    return whole, readable, unreadable


def _pictures(listing: Listing, settings: DataSettings) -> Items:
    files = listing.files
    # Not refused yet, so that files that fail while they are decoded are named in the same message.
    reader, places, unreadable, chosen = reader_of_files(files, settings)
    checked = settings.sides is None or settings.channels is None
    inputs, readable, undecodable = readable_pictures(
        [files[place] for place in places], reader, settings, checked=checked
    )
    unreadable += undecodable
    if len(unreadable) == len(files) or (unreadable and not settings.skip_unreadable):
        raise unreadable_files(unreadable, len(files))
    places = [places[place] for place in readable]
    items = labelled(inputs, listing, settings, places)
    dark = about_brightness(inputs, [files[place] for place in places], reader)
    notes = [*(f"skipped: {reason}" for _, reason in unreadable), *([dark] if dark else [])]
    if chosen is not None:
        items = replace(items, source=Source(listing.name, chosen[0]))
        notes.append(chosen[1])
    return replace(items, reader=reader, notes=(*items.notes, *notes))


def _left_out(listing: Listing) -> list[str]:
    notes = [f'the class "{name}" has no items and is left out' for name in listing.empty]
    if listing.foreign:
        notes.append(foreign_files(listing.foreign, listed(listing.foreign, MOST_LISTED)))
    if listing.repeated:
        number = counted(len(listing.repeated), "file is", "files are")
        notes.append(f"{number} named more than once and taken once: {listed(listing.repeated, MOST_LISTED)}")
    return notes
