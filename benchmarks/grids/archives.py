"""CUB-200-2011 and plankton, as several studies use them: archives of pictures with trees of the classes.

Pictures are decoded once for each size, into an array that every run maps into memory.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from grids.running import Place
from samekind.data import DataSettings, Items, open_data
from samekind.storage import write_text
from samekind.taxonomy import Tree, read_tree

Archive = Literal["birds", "plankton"]
FILES = {"birds": "cub200.zip", "plankton": "plankton.zip"}
TAXONOMIES = {"birds": "cub200_taxonomy.csv", "plankton": "plankton_taxonomy.csv"}
#: Channels, and how a picture is brought to its size: plankton lies on a white canvas, never enlarged.
CHANNELS = {"birds": 3, "plankton": 1}
FITS = {"birds": "crop", "plankton": "pad"}


def tree_of(archive: Archive, source: Path) -> Tree:
    """The tree of the classes."""
    return read_tree(source / TAXONOMIES[archive])


def decoded(archive: Archive, place: Place, *, size: int) -> Items:
    """The pictures of an archive as uint8 (n, channels, size, size), mapped from the cache."""
    assert place.cache is not None
    pixels, labels = (place.cache / f"{archive}-{size}.{ending}" for ending in ("npy", "json"))
    if not labels.exists():
        _decode(archive, place.data, size, pixels, labels)
    known = json.loads(labels.read_text(encoding="utf-8"))
    # Copy on write: PyTorch warns of arrays that cannot be written to.
    inputs = torch.from_numpy(np.load(pixels, mmap_mode="c"))
    return Items(inputs, torch.tensor(known["labels"]), tuple(known["classes"]), archive)


def few(items: Items, labels: Iterable[int], *, count: int) -> Items:
    """The first items of some classes, ``count`` of each at most."""
    labels = list(labels)
    places = [(items.labels == label).nonzero().flatten()[:count] for label in labels]
    return items.take(torch.cat(places)).only([items.classes[label] for label in labels])


def _decode(archive: Archive, source: Path, size: int, pixels: Path, labels: Path) -> None:
    settings = DataSettings(size=size, channels=CHANNELS[archive], fit=FITS[archive], memory="always")
    items = open_data(source / FILES[archive], settings=settings)
    assert isinstance(items.inputs, torch.Tensor)
    pixels.parent.mkdir(parents=True, exist_ok=True)
    np.save(pixels, items.inputs.numpy())
    # Written last: if it exists, the pixels are complete.
    write_text(labels, json.dumps({"classes": items.classes, "labels": items.labels.tolist()}) + "\n")
