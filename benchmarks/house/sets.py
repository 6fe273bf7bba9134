"""The data of the study. A folder holds cub200.zip and its taxonomy, plankton.zip and its taxonomy, and
Fashion-MNIST's four files; the other sets come with scikit-learn and with samekind itself.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from grid import Data, Experiment
from grids.archives import decoded, few, tree_of
from grids.running import Place
from sklearn import datasets

from samekind import characters, digits, open_data
from samekind.data import Items, Sets, SplitSettings, prepare

#: How many pixels pictures are read with, and the classes with fewer items that are left out.
PIXELS, FEWEST = {"birds": 224, "plankton": 96}, 20
#: A trial has so many classes, items of each, and pixels.
QUICK_CLASSES, QUICK_ITEMS, QUICK_PIXELS = 12, 16, 64
UNSEEN_ALPHABETS = 0.4
#: Of Fashion-MNIST a CPU trains on the first so many pictures of each class.
CUT = 1000


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
        case "fashion" | "fashion-cut" | "digits":
            names = np.random.default_rng(seed).permutation(items.classes)
            unseen = tuple(sorted(names[: 3 if experiment.data == "digits" else 2].tolist()))
        case _:
            fractions = few
            unseen = ()  # two or three classes: none can be spared
    fractions = few if place.quick else fractions
    return prepare(items, SplitSettings(unseen=unseen, fractions=fractions, seed=seed))


def opened(data: Data, place: Place) -> Items:
    """All items of a set; of a trial a few."""
    match data:
        case "birds" | "plankton":
            items = replace(_decoded(data, place), tree=tree_of(data, place.data))
        case "fashion":
            items = open_data(place.data / "fashion")
        case "fashion-cut":
            items = open_data(place.data / "fashion")
            items = few(items, range(len(items.classes)), count=CUT)
        case "characters":
            items = characters()
        case "digits":
            items = digits()
        case "wine" | "cancer":
            items = _table(datasets.load_wine if data == "wine" else datasets.load_breast_cancer, data)
    # People and sites are not what this study is about.
    items = replace(items, groups=None, domains=None, parts=None)
    if place.quick:
        items = few(items, torch.unique(items.labels)[:QUICK_CLASSES].tolist(), count=QUICK_ITEMS)
    return items


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


def _decoded(data: Data, place: Place) -> Items:
    """The pictures of an archive, of classes with enough of them."""
    items = decoded(data, place, size=QUICK_PIXELS if place.quick else PIXELS[data])
    sizes = torch.bincount(items.labels, minlength=len(items.classes))
    enough = [name for name, size in zip(items.classes, sizes.tolist(), strict=True) if size >= FEWEST]
    return items if len(enough) == len(items.classes) else items.only(enough)
