"""The data of the study, on the device: CUB-200-2011 in the split of few-shot work, and Omniglot."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from grid import Experiment
from grids.archives import decoded, few
from grids.running import Place

from samekind.data import Items

#: Pixels of pictures as they are decoded: for crops of 84 pixels, for others in proportion; and for the
#: pretrained network.
PIXELS, CROP, HOUSE_PIXELS = 128, 84, 224
#: Pictures are asked about at 1.15 times the size, and the middle is cut out.
ZOOM = 1.15
#: Omniglot's pixels; the last so many alphabets of the background set choose the checkpoint.
SIDE, VALIDATION_ALPHABETS = 28, 5
#: A trial has so many pictures of every class, and classes.
QUICK_ITEMS, QUICK_CLASSES, QUICK_CHARACTERS = 22, 40, 30


class Parts(NamedTuple):
    """Items on the device. Training items are augmented; the others are as they are asked about."""

    train: Items
    validation: Items
    test: Items


def parts_of(experiment: Experiment, place: Place) -> Parts:
    if not experiment.birds:
        return _characters(place)
    seen = None if experiment.system == "house" else experiment.setting(place.quick).pixels
    return _birds(place, size=_size(experiment, place), seen=seen)


def make_ready(experiments: list[Experiment], place: Place) -> None:
    """Decode the pictures that a run asks for."""
    missing = [run for run in experiments if run.birds and not place.result_of(run).exists()]
    for size in dict.fromkeys(_size(run, place) for run in missing):
        decoded("birds", place, size=size)


def _size(experiment: Experiment, place: Place) -> int:
    if experiment.system == "house" and not place.quick:
        return HOUSE_PIXELS
    return round(experiment.setting(place.quick).pixels * PIXELS / CROP)


@cache
def _birds(place: Place, *, size: int, seen: int | None) -> Parts:
    """Classes in the order of their folders: even ones train, every fourth from 1 on validates, every fourth
    from 3 on tests (Chen et al., "A Closer Look at Few-shot Classification", ICLR 2019). The last two are cut
    to what is ``seen``, or left as they are.
    """
    items = decoded("birds", place, size=size)
    names = sorted(items.classes)
    if place.quick:
        names = names[:QUICK_CLASSES]
        items = few(items, map(items.classes.index, names), count=QUICK_ITEMS)
    by_part = (names[::2], names[1::4], names[3::4])
    train, *others = (items.only(some).to(torch.device(place.device)) for some in by_part)
    return Parts(train, *(some if seen is None else _middle(some, seen) for some in others))


def _middle(items: Items, size: int) -> Items:
    """The middle of each picture, 1 / 1.15 of its side, in so many pixels."""
    pixels = items.inputs
    assert isinstance(pixels, torch.Tensor)
    side = round(pixels.shape[-1] / ZOOM)
    first = (pixels.shape[-1] - side) // 2
    cut = pixels[:, :, first : first + side, first : first + side]
    small = [
        F.interpolate(part.float(), size=(size, size), mode="bilinear", antialias=True).round_()
        for part in cut.split(512)
    ]
    return Items(torch.cat(small).to(torch.uint8), items.labels, items.classes, items.name)


@cache
def _characters(place: Place) -> Parts:
    """Omniglot at 28 pixels. The background set trains, its last five alphabets choose the checkpoint, the
    evaluation set tests. Each of four rotations of a character is a class of its own, in all three, as in the
    work on few-shot learning.
    """
    background, test = (_drawings(place.data / "omniglot.npz", part) for part in ("background", "evaluation"))
    alphabets = sorted({name.partition("/")[0] for name in background.classes})
    chosen = alphabets[-VALIDATION_ALPHABETS:]
    groups = [
        [name for name in background.classes if (name.partition("/")[0] in chosen) == last]
        for last in (False, True)
    ]
    parts = [background.only(some) for some in groups]
    if place.quick:
        *parts, test = (some.only(some.classes[:QUICK_CHARACTERS]) for some in (*parts, test))
    return Parts(*(_rotated(some).to(torch.device(place.device)) for some in (*parts, test)))


def _drawings(path: Path, part: str) -> Items:
    """Drawings of 28 x 28 pixels, ink 255; the 20 of a character are by 20 people, in the same order."""
    with np.load(path) as arrays:
        bits, labels, names = (arrays[f"images_{part}{end}"] for end in ("", "_labels", "_names"))
    ink = torch.from_numpy(np.unpackbits(bits, axis=-1)[..., :105]).float()[:, None]
    inputs = F.interpolate(ink, size=(SIDE, SIDE), mode="area").mul_(255).round_().to(torch.uint8)
    return Items(inputs, torch.from_numpy(labels).long(), tuple(map(str, names)), f"Omniglot, {part}")


def _rotated(items: Items) -> Items:
    """Four times as many classes: each turned by 0, 90, 180 and 270 degrees."""
    assert isinstance(items.inputs, torch.Tensor)
    count = len(items.classes)
    inputs = torch.cat([items.inputs.rot90(turns, (2, 3)) for turns in range(4)])
    labels = torch.cat([items.labels + turns * count for turns in range(4)])
    classes = tuple(f"{name}, {90 * turns}" for turns in range(4) for name in items.classes)
    return Items(inputs, labels, classes, items.name)
