"""CUB-200-2011 as the grids use it: a hundred classes to train and to choose with, a hundred to test with.

The epoch is chosen by classes of whole families of birds that are held out of a first training, another fold
of families for every seed: random classes leave near relatives on both sides, and are told apart far better
than the birds of the test. The space that is tested is trained anew with all hundred classes.

Pictures are decoded once for each size, by many processes, into one array that every run maps into memory.
Wah et al., "The Caltech-UCSD Birds-200-2011 Dataset", 2011.
"""

import json
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grids.running import Place
from samekind.data import DataSettings, Items, Sets, SplitSettings, open_data, prepare
from samekind.recipes.folds import class_folds
from samekind.storage import write_text
from samekind.taxonomy import read_tree

#: The tree of the birds, beside the archive. A path is birds, order, family, genus, bird.
TAXONOMY, FAMILY = "cub200_taxonomy.csv", 3
#: To try everything out: so many classes, every one of CUB's 12th, with so many pictures each.
QUICK_CLASSES, QUICK_STEP, QUICK_ITEMS = 16, 12, 8


def make_ready(experiments: Sequence[Any], place: Place) -> None:
    """Decode the pictures in every size that a run asks for which is not done yet."""
    missing = [experiment for experiment in experiments if not place.result_of(experiment).exists()]
    for size in dict.fromkeys(experiment.size for experiment in missing):
        if not _labels_path(_folder(place), size, place.quick).exists():
            _decode(place.data, _folder(place), size, place.quick)


def birds(place: Place, *, size: int, seed: int, full: bool = False) -> Sets:
    """The zero-shot sets of pictures uint8 (n, 3, size, size): the second half of the classes, ``unseen``, is
    for the test; the families of one fold of the first half, another for every seed, choose the epoch.
    ``full`` trains with these as well: then nothing can be chosen by them. `make_ready` was called before.
    """
    items = _mapped(_folder(place), size, place.quick)
    return divided(replace(items, tree=read_tree(_beside(place.data))), fold=seed, full=full)


def divided(items: Items, *, fold: int, full: bool = False) -> Sets:
    """Items with a tree of their classes as the grids use them, the families of a fold held out to choose."""
    seen = items.only(list(items.classes[: len(items.classes) // 2]))
    folds = class_folds(seen, seed=0, depth=FAMILY).parts
    held_out = seen.labels[folds[fold % len(folds)].held_out].unique().tolist()
    settings = SplitSettings(
        unseen="half",
        validation_classes=tuple(seen.classes[label] for label in held_out),
        fractions={"train": 1.0},
        seed=fold,
    )
    sets = prepare(replace(items, tree=None), settings)
    if not full:
        return sets
    everything = replace(items.only(list(seen.classes)), tree=None)
    return replace(sets, train=replace(everything, name=f"{items.name}, train and validation"))


def _beside(source: Path) -> Path:
    """The file with the tree, in the folder of the archive."""
    path = (source if source.is_dir() else source.parent) / TAXONOMY
    if not path.exists():
        raise SystemExit(f"expected {TAXONOMY} beside the pictures, to hold out whole families by: {path}")
    return path


@cache
def _mapped(folder: Path, size: int, quick: bool) -> Items:
    known = json.loads(_labels_path(folder, size, quick).read_text(encoding="utf-8"))
    # Copy on write: PyTorch warns of arrays that cannot be written to.
    pixels = np.load(_pixels_path(folder, size, quick), mmap_mode="c")
    return Items(
        torch.from_numpy(pixels), torch.tensor(known["labels"]), tuple(known["classes"]), "CUB-200-2011"
    )


def _decode(source: Path, folder: Path, size: int, quick: bool) -> None:
    items = _opened(source, size)
    chosen = _few(items) if quick else torch.arange(len(items))
    folder.mkdir(parents=True, exist_ok=True)
    path = _pixels_path(folder, size, quick)
    pixels = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(len(chosen), 3, size, size))
    pixels.flush()
    workers = 1 if quick else os.cpu_count() or 1
    parts = [part for part in torch.arange(len(chosen)).tensor_split(workers) if len(part)]
    if workers == 1:
        _decode_part(source, path, size, chosen, 0)
    else:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            waiting = [
                pool.submit(_decode_part, source, path, size, chosen[part], int(part[0])) for part in parts
            ]
            for future in waiting:
                future.result()
    taken = items.take(chosen)
    classes = [taken.classes[label] for label in sorted(set(taken.labels.tolist()))]
    labels = taken.only(classes).labels.tolist()
    # Written last: that it is there says that the pixels are complete.
    write_text(_labels_path(folder, size, quick), json.dumps({"classes": classes, "labels": labels}) + "\n")


def _decode_part(source: Path, path: Path, size: int, chosen: torch.Tensor, start: int) -> None:
    torch.set_num_threads(1)
    inputs = _opened(source, size).inputs
    pixels = np.load(path, mmap_mode="r+")
    for first in range(0, len(chosen), 64):
        decoded = inputs[chosen[first : first + 64]]
        pixels[start + first : start + first + len(decoded)] = decoded.numpy()
    pixels.flush()


def _opened(source: Path, size: int) -> Items:
    inside = source / "cub200.zip"
    settings = DataSettings(size=size, channels=3, fit="crop", memory="never", workers=1)
    return open_data(inside if inside.exists() else source, settings=settings)


def _few(items: Items) -> torch.Tensor:
    wanted = range(0, QUICK_CLASSES * QUICK_STEP, QUICK_STEP)
    return torch.cat([(items.labels == label).nonzero().flatten()[:QUICK_ITEMS] for label in wanted])


def _folder(place: Place) -> Path:
    assert place.cache is not None
    return place.cache


def _pixels_path(folder: Path, size: int, quick: bool) -> Path:
    return folder / f"birds-{'few-' if quick else ''}{size}.npy"


def _labels_path(folder: Path, size: int, quick: bool) -> Path:
    return folder / f"birds-{'few-' if quick else ''}{size}.json"
