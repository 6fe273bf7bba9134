"""The items of a run: features of sounds, by speaker into those to train on, to choose by and to test."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from grid import FOLDS, HALVES, ROOMS, TUNED, Experiment
from grids.running import Place
from torch import Tensor

from samekind.acoustics import lengths_of, padded
from samekind.data import Items, open_data

#: So many utterances become one, and the seed of which.
JOINED, JOINING = 5, 0
#: So many utterances of each speaker are tested, of 200.
UTTERANCES = 50
#: Validation items that choose the epoch, all pairs of which are scored after each; of a small system fewer.
CHOOSING, FEW_CHOOSING = 600, 300
#: A trial has so many utterances of each speaker.
QUICK_ITEMS = 20
#: The room of the training, and the one that is tested.
HOME, AWAY = "vr-room", "kino"


class Parts(NamedTuple):
    """Training and validation items, test items by condition, and labelled items of a new room."""

    train: Items
    validation: Items
    test: dict[str, Items]
    new: Items | None = None


def parts_of(experiment: Experiment, place: Place) -> Parts:
    """The items of a run; no speaker is in two parts."""
    prefix = _prefix(experiment)
    clean = _items(place, f"{prefix}clean")
    if experiment.base == ROOMS:
        return _rooms(experiment, clean)
    dealt = dealt_speakers(list(clean.classes))
    fold = experiment.fold
    test, validation = (dealt[number % FOLDS :: FOLDS] for number in (fold, fold + 1))
    train = clean.only([name for name in dealt if name not in {*test, *validation}])
    if experiment.is_small:
        train = few(train, UTTERANCES)
    if experiment.base == "speaker-noisy":
        noisy = _items(place, "noisy-train").only(train.classes)
        train = _both(train, few(noisy, UTTERANCES) if experiment.is_small else noisy)
    spoken = {"clean": clean.only(test), "noise": _items(place, f"{prefix}noisy-test").only(test)}
    spoken = {sound: few(items, UTTERANCES) for sound, items in spoken.items()}
    return Parts(train, clean.only(validation), _conditions(spoken))


def files_of(experiment: Experiment) -> list[str]:
    """The files that `parts_of` and the run read."""
    prefix = _prefix(experiment)
    noisy = ["noisy-train"] if experiment.base == "speaker-noisy" else []
    noisy += [] if experiment.base == ROOMS else [f"{prefix}noisy-test"]
    weights = [TUNED[experiment.system]] if experiment.system in TUNED else []
    return [*(f"{name}.npz" for name in (f"{prefix}clean", *noisy)), *weights]


def _prefix(experiment: Experiment) -> str:
    """How the names of its files begin: a network that is trained further has features of its own."""
    return f"{experiment.system.removeprefix('tuned-')}-" if experiment.system in TUNED else ""


def _rooms(experiment: Experiment, clean: Items) -> Parts:
    """The items of each part of `room_speakers`."""
    train, validation, new, test = map(clean.only, room_speakers(rooms_of(clean), experiment.fold))
    if experiment.is_small:
        train = few(train, UTTERANCES)
    return Parts(train, validation, _conditions({"clean": few(test, UTTERANCES)}), new)


def rooms_of(clean: Items) -> dict[str, str]:
    """The recording room of each speaker."""
    assert clean.domains is not None
    return {
        name: clean.domain_names[int(clean.domains[clean.labels == label][0])]
        for label, name in enumerate(clean.classes)
    }


def room_speakers(rooms: dict[str, str], fold: int) -> tuple[list[str], list[str], list[str], list[str]]:
    """Speakers of one room to train on and, every sixth, to choose by; halves of those of the other to adapt
    with and to test.
    """
    home, away = (dealt_speakers([name for name in rooms if rooms[name] == room]) for room in (HOME, AWAY))
    new, test = (away[(fold + turn) % HALVES :: HALVES] for turn in (1, 0))
    return [name for place, name in enumerate(home) if place % FOLDS], home[::FOLDS], new, test


def _conditions(spoken: dict[str, Items]) -> dict[str, Items]:
    """Single utterances, and several joined."""
    return {f"1 digit, {name}": items for name, items in spoken.items()} | {
        f"{JOINED} digits, {name}": joined(items) for name, items in spoken.items()
    }


def joined(items: Items, count: int = JOINED) -> Items:
    """Utterances of a speaker one after the other, ``count`` at a time; each is used once. Which ones does
    not depend on the other speakers, so features and embeddings of sounds are joined alike.
    """
    assert isinstance(items.inputs, torch.Tensor)
    lengths = lengths_of(items.inputs).tolist()
    sounds, labels = [], []
    for label in range(len(items.classes)):
        for some in _shuffled_members(items, label).split(count):
            if len(some) == count:
                parts = [items.inputs[place, :, : lengths[place]] for place in some.tolist()]
                sounds.append(torch.cat(parts, dim=1))
                labels.append(label)
    return Items(padded(sounds), torch.tensor(labels), items.classes, items.name, reader=items.reader)


def few(items: Items, count: int) -> Items:
    """The first utterances of each speaker, in an order drawn once."""
    return items.take(few_places(items, count))


def few_places(items: Items, count: int) -> Tensor:
    """Where they are."""
    members = [_shuffled_members(items, label)[:count] for label in range(len(items.classes))]
    return torch.cat(members).sort().values


def _shuffled_members(items: Items, label: int) -> Tensor:
    members = (items.labels == label).nonzero().flatten()
    order = torch.randperm(len(members), generator=torch.Generator().manual_seed(JOINING))
    return members[order]


def _both(one: Items, other: Items) -> Items:
    """The items of two sets with the same classes."""
    inputs = padded([*one.inputs, *other.inputs])
    return Items(inputs, torch.cat([one.labels, other.labels]), one.classes, one.name, reader=one.reader)


def dealt_speakers(names: list[str]) -> list[str]:
    """Speakers in the order in which they are dealt to folds."""
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(0))
    return [names[place] for place in order.tolist()]


def clean_items(place: Place) -> Items:
    """The features of all clean sounds."""
    return _items(place, "clean")


def _items(place: Place, name: str) -> Items:
    items = _opened(place.data / f"{name}.npz")
    if place.quick:
        firsts = [
            (items.labels == label).nonzero().flatten()[:QUICK_ITEMS] for label in range(len(items.classes))
        ]
        items = items.take(torch.cat(firsts))
    return items


@cache
def _opened(path: Path) -> Items:
    items = open_data(path)
    return replace(items, inputs=items.inputs[:].float(), source=None)
