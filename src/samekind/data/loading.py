"""A listing of files to items: decoded into memory, or left where they are until they are needed."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from samekind.data.arrays import stacked_arrays
from samekind.data.brightness import about_brightness
from samekind.data.counting import counted
from samekind.data.files import File, is_array
from samekind.data.headings import headings, reader_of
from samekind.data.items import Items
from samekind.data.listing import Listing, about_sounds, class_order, foreign_files
from samekind.data.pictures import MODES, Heading
from samekind.data.readers import ImageReader, VectorReader, refitted
from samekind.data.settings import DataSettings
from samekind.data.stored import Stored, decode_all, unreadable_files
from samekind.errors import MOST_LISTED, DataError, nearest


def load(listing: Listing, settings: DataSettings) -> Items:
    """The items of a listing. Every file that cannot be read is named, or skipped where that was asked for.

    Pictures that go into memory are decoded here, all of them. Of those that stay where they are only the
    beginning is read: what is wrong further inside is said when they are needed, or by `examine`.
    """
    arrays = [is_array(file) for file in listing.files]
    if not listing.files:
        raise DataError(
            f"{listing.name} has no pictures; expected folders of them, one for each class"
            + about_sounds(listing.foreign)
        )
    if any(arrays) and not all(arrays):
        raise DataError(
            f"{listing.name} has {sum(arrays)} .npy arrays among {len(arrays)} files; "
            "give pictures or arrays, not both"
        )
    if all(arrays):
        array, array_reader = fitted(stacked_arrays(listing.files), settings)
        return replace(labelled(array, listing, range(len(arrays)), settings), reader=array_reader)
    reader, inputs, kept, unreadable = _pictures(listing.files, settings)
    items = labelled(inputs, listing, kept, settings)
    notes = [f"skipped: {why}" for _, why in unreadable]
    dark = about_brightness(inputs, [listing.files[place] for place in kept], reader)
    return replace(items, reader=reader, notes=(*items.notes, *notes, *([dark] if dark else [])))


def published(
    name: str, pixels: Tensor, labels: Sequence[str], parts: Sequence[str], settings: DataSettings
) -> Items:
    """Pictures (n, channels, height, width) that came in a few files, with the label of each and the part it
    was published in; where there is one part alone, none is said.
    """
    inputs, reader = fitted(pixels, settings)
    listing = Listing(
        name=name,
        files=(),
        labels=labels,
        ids=[f"{part} {place}" for place, part in enumerate(parts)],
        parts=parts if len(set(parts)) > 1 else None,
    )
    return replace(labelled(inputs, listing, range(len(labels)), settings), reader=reader)


def labelled(inputs: Tensor | Stored, listing: Listing, kept: Sequence[int], settings: DataSettings) -> Items:
    """Inputs, those of the files ``kept``, with the labels and all else that the listing knows."""
    names = [listing.labels[place] for place in kept]
    classes = settings.classes or tuple(class_order(names))
    index = {name: place for place, name in enumerate(classes)}
    unknown = sorted(set(names) - set(classes))
    if unknown:
        listed = ", ".join(f'"{each}"' for each in unknown[:MOST_LISTED])
        raise DataError(
            f"{listing.name} has labels that are none of the given classes: {listed}; "
            f"for the first, {nearest(unknown[0], classes)}"
        )
    domains, domain_names = numbered(listing.domains, kept)
    groups, _ = numbered(listing.groups, kept)
    return Items(
        inputs=inputs,
        labels=torch.tensor([index[name] for name in names], dtype=torch.int64),
        classes=classes,
        name=listing.name,
        domains=domains,
        domain_names=domain_names,
        groups=groups,
        parts=None if listing.parts is None else tuple(listing.parts[place] for place in kept),
        ids=tuple(listing.ids[place] for place in kept),
        notes=tuple(_left_out(listing)),
    )


def numbered(texts: Sequence[str] | None, kept: Sequence[int]) -> tuple[Tensor | None, tuple[str, ...]]:
    """Texts as numbers (n,), and the different texts in the order of their numbers."""
    if texts is None:
        return None, ()
    names = class_order([texts[place] for place in kept])
    index = {name: place for place, name in enumerate(names)}
    return torch.tensor([index[texts[place]] for place in kept], dtype=torch.int64), tuple(names)


def readable_pictures(
    files: Sequence[File], reader: ImageReader, settings: DataSettings, *, looked: bool = False
) -> tuple[Tensor | Stored, list[int], list[tuple[str, str]]]:
    """Pictures in memory or stored, as the settings say; their places; and (file, why not) of the others.

    ``looked`` says that the beginning of every file has been read already.
    """
    stored = Stored(files, reader, workers=settings.workers, stays=settings.memory == "never")
    if settings.memory == "always" or (settings.memory == "auto" and stored.nbytes <= settings.memory_limit):
        return decode_all(files, reader, workers=settings.workers)
    if looked:
        return stored, list(range(len(files))), []
    found = headings(files, workers=settings.workers)
    kept = [place for place, each in enumerate(found) if isinstance(each, Heading)]
    return stored.take(torch.tensor(kept, dtype=torch.int64)), kept, _unreadable(files, found)


def fitted(inputs: Tensor, settings: DataSettings) -> tuple[Tensor, ImageReader | VectorReader | None]:
    """Items in memory brought to the size and colours of the settings, and the reader of more like them."""
    pictures = inputs.dtype == torch.uint8 and inputs.dim() == 4 and inputs.shape[1] in MODES
    if not pictures:
        if settings.size is not None:
            raise DataError(
                f"size is for pictures of bytes; these items are {tuple(inputs.shape[1:])} floats"
            )
        return inputs, _array_reader(inputs)
    height, width = settings.sides or (inputs.shape[2], inputs.shape[3])
    reader = ImageReader(
        height=height,
        width=width,
        channels=settings.channels or inputs.shape[1],
        fit=settings.fit,
        background=settings.background,
        cut_from=settings.larger_sides,
        white=settings.white,
    )
    return refitted(inputs, reader), reader


def picture_reader(
    files: Sequence[File], settings: DataSettings
) -> tuple[ImageReader, list[int], list[tuple[str, str]]]:
    """How these pictures are read, the places of those that can be, and (file, why not) of the others.

    Where the settings say both size and colours, no file is looked at.
    """
    if settings.sides is not None and settings.channels is not None:
        return reader_of([Heading(*settings.sides, grey=True)], settings), list(range(len(files))), []
    found = headings(files, workers=settings.workers)
    unreadable = _unreadable(files, found)
    kept = [place for place, each in enumerate(found) if isinstance(each, Heading)]
    if not kept:
        raise unreadable_files(unreadable, len(files))
    return reader_of([each for each in found if isinstance(each, Heading)], settings), kept, unreadable


def _pictures(
    files: Sequence[File], settings: DataSettings
) -> tuple[ImageReader, Tensor | Stored, list[int], list[tuple[str, str]]]:
    # Not refused yet, so that what the decoding finds is named in the same sentence.
    reader, places, unreadable = picture_reader(files, settings)
    looked = settings.sides is None or settings.channels is None
    inputs, kept, more = readable_pictures(
        [files[place] for place in places], reader, settings, looked=looked
    )
    _refuse(unreadable + more, files, settings)
    return reader, inputs, [places[place] for place in kept], unreadable + more


def _unreadable(files: Sequence[File], found: Sequence[Heading | DataError]) -> list[tuple[str, str]]:
    return [(str(files[n]), str(each)) for n, each in enumerate(found) if isinstance(each, DataError)]


def _refuse(unreadable: Sequence[tuple[str, str]], files: Sequence[File], settings: DataSettings) -> None:
    if len(unreadable) == len(files) or (unreadable and not settings.skip_unreadable):
        raise unreadable_files(unreadable, len(files))


def _array_reader(inputs: Tensor) -> ImageReader | VectorReader | None:
    match tuple(inputs.shape[1:]):
        case (dimension,):
            return VectorReader(dimension=dimension)
        case (1 | 3 as channels, height, width):
            return ImageReader(height=height, width=width, channels=channels)
    return None


def _left_out(listing: Listing) -> list[str]:
    notes = [f'the class "{name}" has no pictures and is left out' for name in listing.empty]
    if listing.foreign:
        notes.append(foreign_files(listing.foreign, ", ".join(listing.foreign[:MOST_LISTED])))
    if listing.repeated:
        listed = ", ".join(listing.repeated[:MOST_LISTED])
        notes.append(
            f"{counted(len(listing.repeated), 'file is', 'files are')} named more than once "
            f"and taken once: {listed}"
        )
    return notes
