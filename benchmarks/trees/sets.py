"""The data of the study: pictures decoded once, split at random 70 / 10 / 20 as in the paper, with a tree."""

from dataclasses import replace
from functools import cache

import torch
from grid import Data, Experiment
from grids.archives import decoded, few, tree_of
from grids.running import Place

from samekind.data import Items, Sets, SplitSettings, prepare
from samekind.taxonomy import Tree

#: Pixels of a side.
PIXELS: dict[Data, int] = {"birds": 192, "plankton": 96}
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


def living(data: Data, tree: Tree, classes: list[str]) -> torch.Tensor | None:
    """Which classes are alive, where the tree says."""
    if data not in LIVING or LIVING[data] not in tree:
        return None
    return tree.membership(classes)[tree.place(LIVING[data])]


def make_ready(experiments: list[Experiment], place: Place) -> None:
    """Decode the pictures that a run asks for."""
    for data in dict.fromkeys(run.data for run in experiments if not place.result_of(run).exists()):
        _decoded(data, place)


def _decoded(data: Data, place: Place) -> Items:
    return decoded(data, place, size=QUICK_PIXELS if place.quick else PIXELS[data])


def _items(data: Data, place: Place) -> Items:
    items = _decoded(data, place)
    if place.quick:
        labels = torch.unique(items.labels)[:: len(items.classes) // QUICK_CLASSES][:QUICK_CLASSES]
        items = few(items, labels.tolist(), count=QUICK_ITEMS)
    return replace(items, tree=tree_of(data, place.data))
