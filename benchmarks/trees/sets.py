"""The data of the study: pictures decoded once, split at random 70 / 10 / 20 as in the paper, with a tree."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from grid import Data, Experiment
from grids.running import Place

from samekind import open_data
from samekind.data import DataSettings, Items, Sets, SplitSettings, prepare
from samekind.storage import write_text
from samekind.taxonomy import Tree, read_tree

ARCHIVES: dict[Data, str] = {"birds": "cub200.zip", "plankton": "plankton.zip"}
TAXONOMIES: dict[Data, str] = {"birds": "cub200_taxonomy.csv", "plankton": "plankton_taxonomy.csv"}
#: Pixels, channels, and how a picture is brought to them: plankton lies on a white canvas, never enlarged.
PIXELS: dict[Data, int] = {"birds": 192, "plankton": 96}
CHANNELS: dict[Data, int] = {"birds": 3, "plankton": 1}
FITS: dict[Data, str] = {"birds": "crop", "plankton": "pad"}
FRACTIONS = {"train": 0.7, "validation": 0.1, "test": 0.2}
#: A trial has so many classes, items of each, and pixels.
QUICK_CLASSES, QUICK_ITEMS, QUICK_PIXELS = 10, 20, 64
#: The node above the classes that are alive, where there is one.
LIVING = {"plankton": "living"}


def sets_of(experiment: Experiment, place: Place) -> Sets:
    """Train, validation and test items by the run's seed; the inputs lie on the device, for all systems."""
    return _sets(experiment.data, experiment.seed, place)


@cache
def _sets(data: Data, seed: int, place: Place) -> Sets:
    sets = prepare(_items(data, place), SplitSettings(fractions=FRACTIONS, seed=seed))
    device = torch.device(place.device)
    return replace(sets, train=sets.train.to(device), test=sets.test.to(device))


def tree_of(data: Data, source: Path) -> Tree:
    """The tree of the classes."""
    return read_tree(source / TAXONOMIES[data])


def living(data: Data, tree: Tree, classes: list[str]) -> torch.Tensor | None:
    """Which classes are alive, where the tree says."""
    if data not in LIVING or LIVING[data] not in tree:
        return None
    return tree.membership(classes)[tree.place(LIVING[data])]


def make_ready(experiments: list[Experiment], place: Place) -> None:
    """Decode the pictures that a run asks for."""
    for data in dict.fromkeys(run.data for run in experiments if not place.result_of(run).exists()):
        _decoded(data, place)


def _items(data: Data, place: Place) -> Items:
    items = _decoded(data, place)
    if place.quick:
        labels = torch.unique(items.labels)[:: len(items.classes) // QUICK_CLASSES][:QUICK_CLASSES]
        places = torch.cat([(items.labels == label).nonzero().flatten()[:QUICK_ITEMS] for label in labels])
        items = items.take(places).only([items.classes[label] for label in labels.tolist()])
    return replace(items, tree=tree_of(data, place.data))


def _decoded(data: Data, place: Place) -> Items:
    """The pictures of an archive as uint8 (n, channels, size, size), mapped from the cache."""
    assert place.cache is not None
    size = QUICK_PIXELS if place.quick else PIXELS[data]
    pixels, labels = (place.cache / f"{data}-{size}.{ending}" for ending in ("npy", "json"))
    if not labels.exists():
        _decode(data, place.data, size, pixels, labels)
    known = json.loads(labels.read_text(encoding="utf-8"))
    # Copy on write: PyTorch warns of arrays that cannot be written to.
    inputs = torch.from_numpy(np.load(pixels, mmap_mode="c"))
    return Items(inputs, torch.tensor(known["labels"]), tuple(known["classes"]), data)


def _decode(data: Data, source: Path, size: int, pixels: Path, labels: Path) -> None:
    settings = DataSettings(size=size, channels=CHANNELS[data], fit=FITS[data], memory="always")
    items = open_data(source / ARCHIVES[data], settings=settings)
    assert isinstance(items.inputs, torch.Tensor)
    pixels.parent.mkdir(parents=True, exist_ok=True)
    np.save(pixels, items.inputs.numpy())
    # Written last: if it exists, the pixels are complete.
    write_text(labels, json.dumps({"classes": items.classes, "labels": items.labels.tolist()}) + "\n")
