"""The data of the study. A folder holds cub200.zip and its taxonomy, plankton.zip and its taxonomy, and
Fashion-MNIST's four files; the other sets come with scikit-learn and with samekind itself.

Pictures from archives are decoded once, into an array that every run maps into memory.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from grid import Data, Experiment
from grids.running import Place
from sklearn import datasets

from samekind import characters, digits, open_data
from samekind.data import DataSettings, Items, Sets, SplitSettings, prepare
from samekind.storage import write_text
from samekind.taxonomy import read_tree

#: How many pixels pictures are read with, and the classes with fewer items that are left out.
PIXELS, FEWEST = {"birds": 224, "plankton": 96}, 20
TAXONOMIES = {"birds": "cub200_taxonomy.csv", "plankton": "plankton_taxonomy.csv"}
#: A trial has so many classes, items of each, and pixels.
QUICK_CLASSES, QUICK_ITEMS, QUICK_PIXELS = 12, 16, 64
UNSEEN_ALPHABETS = 0.4


def sets_of(experiment: Experiment, place: Place) -> Sets:
    """Train, validation and test items of the seen classes, and the unseen classes, by the run's seed."""
    items, seed = opened(experiment.data, place), experiment.seed
    fractions = {"train": 0.8, "validation": 0.1, "test": 0.1}
    few = {"train": 0.6, "validation": 0.2, "test": 0.2}
    match experiment.data:
        case "birds":
            fractions = {"train": 0.9, "validation": 0.05, "test": 0.05}
            unseen: tuple[str, ...] | str = "half"  # as published: the second half
        case "plankton":
            unseen = "random-half"
        case "characters":
            unseen = _alphabets(items, seed)
        case "fashion" | "digits":
            names = np.random.default_rng(seed).permutation(items.classes)
            unseen = tuple(sorted(names[: 2 if experiment.data == "fashion" else 3].tolist()))
        case _:
            fractions = few
            unseen = ()  # two or three classes: none can be spared
    fractions = few if place.quick else fractions
    return prepare(items, SplitSettings(unseen=unseen, fractions=fractions, seed=seed))


def opened(data: Data, place: Place) -> Items:
    """All items of a set; of a trial a few."""
    match data:
        case "birds" | "plankton":
            items = replace(_decoded(data, place), tree=read_tree(place.data / TAXONOMIES[data]))
        case "fashion":
            items = replace(open_data(place.data / "fashion"), parts=None)
        case "characters":
            items = characters()
        case "digits":
            items = digits()
        case "wine" | "cancer":
            items = _table(datasets.load_wine if data == "wine" else datasets.load_breast_cancer, data)
    # People and sites are not what this study is about.
    items = replace(items, groups=None, domains=None, parts=None)
    return _few(items) if place.quick else items


def make_ready(experiments: list[Experiment], place: Place) -> None:
    """Decode the pictures of archives that a run asks for."""
    for data in dict.fromkeys(run.data for run in experiments if not place.result_of(run).exists()):
        if data in PIXELS:
            _decoded(data, place)


def _table(load: Callable[..., tuple[np.ndarray, np.ndarray]], name: str) -> Items:
    values, labels = load(return_X_y=True)
    classes = tuple(f"class {label}" for label in np.unique(labels))
    return Items(torch.from_numpy(values).float(), torch.from_numpy(labels).long(), classes, name)


def _alphabets(items: Items, seed: int) -> tuple[str, ...]:
    """The characters of some alphabets, drawn."""
    alphabets = sorted({name.partition("/")[0] for name in items.classes})
    drawn = np.random.default_rng(seed).permutation(alphabets)[: round(UNSEEN_ALPHABETS * len(alphabets))]
    return tuple(name for name in items.classes if name.partition("/")[0] in set(drawn.tolist()))


def _few(items: Items) -> Items:
    labels = torch.unique(items.labels)[:QUICK_CLASSES]
    places = torch.cat([(items.labels == label).nonzero().flatten()[:QUICK_ITEMS] for label in labels])
    return items.take(places).only([items.classes[label] for label in labels.tolist()])


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
    archive, channels = ("cub200.zip", 3) if data == "birds" else ("plankton.zip", 1)
    settings = DataSettings(
        size=size, channels=channels, fit="crop" if data == "birds" else "pad", memory="always"
    )
    items = open_data(source / archive, settings=settings)
    sizes = torch.bincount(items.labels, minlength=len(items.classes))
    items = items.only([name for name, size in zip(items.classes, sizes, strict=True) if size >= FEWEST])
    assert isinstance(items.inputs, torch.Tensor)
    pixels.parent.mkdir(parents=True, exist_ok=True)
    np.save(pixels, items.inputs.numpy())
    # Written last: if it exists, the pixels are complete.
    write_text(labels, json.dumps({"classes": items.classes, "labels": items.labels.tolist()}) + "\n")
