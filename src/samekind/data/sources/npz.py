"""A .npz archive: named arrays of inputs, labels and, if known, domains, groups and parts."""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from samekind.data.items import Items
from samekind.data.media import Reader
from samekind.data.media.arrays import Array, as_inputs
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, block_of_rows
from samekind.data.sources.listing import Listing
from samekind.data.sources.loading import in_memory
from samekind.errors import DataError

FORMAT = "arrays (.npz)"

#: The names each array may have, the first of them ours.
NAMES = {
    "inputs": ("inputs", "x", "images", "features", "data"),
    "labels": ("labels", "y", "targets", "label"),
    "domains": ("domains", "domain"),
    "groups": ("groups", "group"),
    "parts": ("parts", "split", "splits"),
    "classes": ("classes", "class_names", "names"),
}

# How NumPy fails with what is no archive, and archives with damage; unknown compression is a RuntimeError.
_UNREADABLE = (OSError, ValueError, EOFError, AttributeError, RuntimeError, zipfile.BadZipFile, zlib.error)


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any .npz file."""
    return path.suffix.lower() == ".npz"


def labelled(path: Path, settings: DataSettings) -> Items:
    """The items of an archive. Labels are texts, or whole numbers; ``classes``, if given, are their names."""
    arrays = read_npz(path)
    inputs = as_inputs(_required(arrays, "inputs", path), f"inputs of {path.name}")
    labels = npz_labels(arrays, len(inputs), path)
    if "classes" in arrays and not settings.classes:
        settings = replace(settings, classes=_class_names(arrays))
    domains, parts, groups = (
        npz_texts(arrays[name], f"{name} of {path.name}", len(inputs)) if name in arrays else None
        for name in ("domains", "parts", "groups")
    )
    ids = [f"item {place}" for place in range(len(inputs))]
    listing = Listing(path.name, (), labels, ids, domains=domains, parts=parts, groups=groups)
    return in_memory(inputs, listing, settings)


def unlabelled(
    path: Path, reader: Reader, choices: Sequence[DataSettings], id_column: str | None
) -> Iterator[Block]:
    """The inputs, with labels and groups if there are any."""
    arrays = read_npz(path)
    block = block_of_rows(as_inputs(_required(arrays, "inputs", path), f"inputs of {path}"), reader, path)
    count = len(block.ids)
    if "labels" in arrays:
        block = block._replace(labels=npz_labels(arrays, count, path))
    if "groups" in arrays:
        block = block._replace(groups=npz_texts(arrays["groups"], f"groups of {path}", count))
    yield block


def read_npz(path: Path) -> dict[str, Array]:
    """The arrays of an archive under our names for them; nothing it holds is run."""
    try:
        # Opened here, because NumPy leaves a file open of which it cannot make an archive.
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise DataError(f"{path} is a single array, not an archive of them; save it with numpy.savez")
            stored = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except _UNREADABLE as error:
        raise DataError(f"cannot read {path} as an archive of arrays (.npz): {error}") from error
    folded = {name.lower(): array for name, array in stored.items()}
    known = {
        ours: next((folded[each] for each in names if each in folded), None) for ours, names in NAMES.items()
    }
    # What has none of our names is kept under its own, so that an error can say what there is.
    return {ours: array for ours, array in known.items() if array is not None} or folded


def npz_labels(arrays: Mapping[str, Array], count: int, path: Path) -> list[str]:
    """The class of each of so many items, by its name where the archive has names for its classes."""
    labels = npz_texts(_required(arrays, "labels", path), f"labels of {path.name}", count)
    return _named(labels, _class_names(arrays), path) if "classes" in arrays else labels


def _class_names(arrays: Mapping[str, Array]) -> tuple[str, ...]:
    return tuple(str(each) for each in arrays["classes"].tolist())


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
    texts = [str(each) for each in array.tolist()]
    empty = [place for place, each in enumerate(texts) if not each.strip()]
    if empty:
        raise DataError(
            f"{name} are empty for {len(empty)} of the {count} items, the first is item {empty[0]}"
        )
    return texts


def _named(labels: list[str], classes: Sequence[str], path: Path) -> list[str]:
    if set(labels) <= set(classes):
        return labels
    for each in labels:
        if not each.isdecimal() or int(each) >= len(classes):
            raise DataError(
                f"labels of {path.name} must be indices into its {len(classes)} classes; got {each}"
            )
    return [classes[int(each)] for each in labels]
