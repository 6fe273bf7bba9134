"""A .npz archive: named arrays of inputs, labels and, if known, domains, groups and parts.

Features of sounds, of unequal length, are ``frames`` (all frames, coefficients), one sound after the other,
with ``lengths`` (n,) and the ``rate`` of the samples they came from, in place of inputs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from samekind.acoustics import padded
from samekind.data.files import Archive
from samekind.data.items import Items
from samekind.data.media import Reader, SoundReader
from samekind.data.media.arrays import as_inputs
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use, block_of_rows
from samekind.data.sources.listing import Listing
from samekind.data.sources.loading import in_memory
from samekind.data.sources.loading import labelled as labelled_items
from samekind.errors import DataError
from samekind.plain_files import Array, read_npy

FORMAT = "arrays (.npz)"

#: The names that each array may have; the first is its key here.
NAMES = {
    "inputs": ("inputs", "x", "images", "features", "data"),
    "frames": ("frames",),
    "lengths": ("lengths",),
    "rate": ("rate",),
    "ids": ("ids",),
    "labels": ("labels", "y", "targets", "label"),
    "domains": ("domains", "domain"),
    "groups": ("groups", "group"),
    "parts": ("parts", "split", "splits"),
    "classes": ("classes", "class_names", "names"),
}


#: Padded sounds take at most so many times the memory of their frames.
MOST_PADDING = 100


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any .npz file."""
    return path.suffix.lower() == ".npz"


def labelled(path: Path, settings: DataSettings) -> Items:
    """The items of an archive. Labels are texts, or whole numbers; ``classes``, if given, are their names."""
    arrays = read_npz(path)
    sounds = "frames" in arrays
    inputs = (
        _sounds(arrays, path)
        if sounds
        else as_inputs(_required(arrays, "inputs", path), f"inputs of {path.name}")
    )
    labels = npz_labels(arrays, len(inputs), path)
    if "classes" in arrays and not settings.classes:
        settings = replace(settings, classes=_class_names(arrays))
    domains, parts, groups = (
        npz_texts(arrays[name], f"{name} of {path.name}", len(inputs)) if name in arrays else None
        for name in ("domains", "parts", "groups")
    )
    ids = [f"item {place}" for place in range(len(inputs))]
    if "ids" in arrays:
        ids = npz_texts(arrays["ids"], f"ids of {path.name}", len(inputs))
    listing = Listing(path.name, (), labels, ids, domains=domains, parts=parts, groups=groups)
    if sounds:
        return replace(
            labelled_items(inputs, listing, settings), reader=SoundReader(rate=_rate(arrays, path))
        )
    return in_memory(inputs, listing, settings)


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """The inputs, with labels and groups if there are any."""
    arrays = read_npz(path)
    block = block_of_rows(as_inputs(_required(arrays, "inputs", path), f"inputs of {path}"), use.reader, path)
    count = len(block.ids)
    if "labels" in arrays:
        block = block._replace(labels=npz_labels(arrays, count, path))
    if "groups" in arrays:
        block = block._replace(groups=npz_texts(arrays["groups"], f"groups of {path}", count))
    yield block


def read_npz(path: Path) -> dict[str, Array]:
    """The arrays of an archive by the keys of `NAMES`; nothing it holds is run."""
    archive, folded = Archive(path, what="an archive of arrays (.npz)"), {}
    for name in archive.members():
        with archive.opened(name) as (stream, size):
            folded[name.removesuffix(".npy").lower()] = read_npy(stream, size=size)
    known = {
        key: next((folded[name] for name in names if name in folded), None) for key, names in NAMES.items()
    }
    # Without any known name all keep their own, so that an error can list them.
    return {key: array for key, array in known.items() if array is not None} or folded


def _sounds(arrays: Mapping[str, Array], path: Path) -> Tensor:
    """Features of sounds as float32 (n, coefficients, longest), padded with NaN."""
    frames, lengths = arrays["frames"], _required(arrays, "lengths", path)
    if frames.ndim != 2 or frames.shape[1] < 2 or frames.dtype.kind != "f" or not np.isfinite(frames).all():
        raise DataError(
            f"frames of {path.name} must be finite floats (frames, coefficients); "
            f"got {frames.shape} of {frames.dtype}"
        )
    fits = lengths.ndim == 1 and lengths.dtype.kind in "iu" and len(lengths) and int(lengths.min()) >= 1
    if not fits or int(lengths.astype(np.int64).sum()) != len(frames):
        raise DataError(
            f"lengths of {path.name} must be whole numbers from 1 up that sum to its {len(frames):,} frames"
        )
    if len(lengths) * int(lengths.max()) > MOST_PADDING * len(frames):
        raise DataError(
            f"the sounds of {path.name} are too unequal to be padded to the longest, of {lengths.max():,} "
            "frames; cut long ones"
        )
    parts = torch.split(torch.from_numpy(frames.astype(np.float32)), lengths.tolist())
    return padded([part.T for part in parts])


def _rate(arrays: Mapping[str, Array], path: Path) -> int:
    rate = _required(arrays, "rate", path)
    if rate.size != 1 or rate.dtype.kind not in "iu" or int(rate.reshape(())) not in (8000, 16000):
        raise DataError(f"rate of {path.name} must be 8000 or 16000")
    return int(rate.reshape(()))


def npz_labels(arrays: Mapping[str, Array], count: int, path: Path) -> list[str]:
    """The class of each item, by its name if the archive has names of classes."""
    labels = npz_texts(_required(arrays, "labels", path), f"labels of {path.name}", count)
    return _named(labels, _class_names(arrays), path) if "classes" in arrays else labels


def _class_names(arrays: Mapping[str, Array]) -> tuple[str, ...]:
    return tuple(str(name) for name in arrays["classes"].tolist())


def _required(arrays: Mapping[str, Array], name: str, path: Path) -> Array:
    if name not in arrays:
        raise DataError(
            f'{path} has no array "{name}" (nor {", ".join(NAMES[name][1:])}); '
            f"it has {', '.join(arrays) or 'none'}"
        )
    return arrays[name]


def npz_texts(array: Array, name: str, count: int) -> list[str]:
    """One text or whole number for each item, as texts."""
    if array.shape != (count,):
        raise DataError(f"{name} must be one for each of the {count} items; got {array.shape}")
    if array.dtype.kind == "f" and np.isfinite(array).all() and np.array_equal(array, array.round()):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iubU":
        raise DataError(f"{name} must be texts or whole numbers; got {array.dtype}")
    texts = [str(value) for value in array.tolist()]
    empty = [place for place, text in enumerate(texts) if not text.strip()]
    if empty:
        raise DataError(
            f"{name} are empty for {len(empty)} of the {count} items, the first is item {empty[0]}"
        )
    return texts


def _named(labels: list[str], classes: Sequence[str], path: Path) -> list[str]:
    if set(labels) <= set(classes):
        return labels
    for label in labels:
        if not label.isdecimal() or int(label) >= len(classes):
            raise DataError(
                f"labels of {path.name} must be indices into its {len(classes)} classes; got {label}"
            )
    return [classes[int(label)] for label in labels]
