"""Sprites: many small square pictures in one PNG, a picture a row, with their labels in a JSON file.

It is how CIFAR-10 is published for browsers: a row of 1,024 pixels is a picture of 32 x 32, read line by
line; ``data_batch_1.png`` to ``data_batch_5.png`` have their labels in ``train_labels.json``,
``test_batch.png`` in ``test_labels.json`` (or, as it happens, ``lables``).
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from samekind.data.files import is_hidden
from samekind.data.items import Items
from samekind.data.media import PICTURES, Reader
from samekind.data.media.pixels import reason
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, block_of
from samekind.data.sources.listing import published
from samekind.data.sources.loading import in_memory
from samekind.errors import DataError

FORMAT = "a folder of sprites"


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """A folder with PNG files, a JSON file of labels, and no folders."""
    if not path.is_dir() or not (reader is None or reader.medium is PICTURES):
        return False
    folders = any(entry.is_dir() and not is_hidden(entry.name) for entry in path.iterdir())
    return not folders and bool(_label_files(path)) and bool(_named(path, "*.png"))


def unlabelled(
    path: Path, reader: Reader, choices: Sequence[DataSettings], id_column: str | None
) -> Iterator[Block]:
    """The pictures, with their labels."""
    yield block_of(labelled(path, DataSettings()), reader, path)


def labelled(path: Path, settings: DataSettings) -> Items:
    """The pictures of all sprites in a folder; those for training and for testing know their part."""
    inputs: list[Tensor] = []
    labels: list[str] = []
    parts: list[str] = []
    for part, label_file in sorted(_label_files(path).items(), key=lambda each: each[0] != "train"):
        sprites = [each for each in _named(path, "*.png") if _part(each) == part]
        if not sprites:
            raise DataError(f"{label_file} has labels, but there is no sprite (.png) for {part} beside it")
        found = [read_sprite(each) for each in sprites]
        names = _read_labels(label_file)
        if len(names) != sum(map(len, found)):
            raise DataError(
                f"{label_file.name} has {len(names)} labels, but {', '.join(each.name for each in sprites)} "
                f"have {sum(map(len, found))} pictures"
            )
        inputs, labels, parts = inputs + found, labels + names, parts + [part] * len(names)
    if len({each.shape[1:] for each in inputs}) > 1:
        raise DataError(f"the sprites of {path} hold pictures of different sizes")
    return in_memory(torch.cat(inputs), published(path.name, labels, parts), settings)


def read_sprite(path: Path) -> Tensor:
    """A sprite as pictures uint8 (rows, 1 or 3, side, side)."""
    try:
        with Image.open(path) as sprite:
            pixels = np.asarray(sprite if sprite.mode in ("L", "RGB") else sprite.convert("RGB"))
    except Exception as error:  # as for any picture: however Pillow fails, the file cannot be read
        raise DataError(f"cannot read {path}: {reason(error)}") from error
    rows, width = pixels.shape[:2]
    side = math.isqrt(width)
    if side * side != width:
        raise DataError(
            f"{path} is {width} pixels wide, which is no square number; "
            "a row of a sprite is one square picture, line after line"
        )
    return torch.from_numpy(pixels.reshape(rows, side, side, -1).transpose(0, 3, 1, 2).copy())


def _read_labels(path: Path) -> list[str]:
    try:
        labels = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the labels {path}: {error}") from error
    if not isinstance(labels, list) or not all(
        type(each) in (int, str) and str(each).strip() for each in labels
    ):
        raise DataError(f"{path} must be a JSON list of labels, one number or text for each picture")
    return [str(each) for each in labels]


def _label_files(folder: Path) -> dict[str, Path]:
    found = [each for each in _named(folder, "*.json") if "label" in each.stem or "lable" in each.stem]
    return {_part(each): each for each in found}


def _named(folder: Path, pattern: str) -> list[Path]:
    """Files in the order of their numbers, which is that of the labels: batch 2 comes before batch 10."""
    found = [each for each in folder.glob(pattern) if not is_hidden(each.name)]

    def numbered(path: Path) -> list[str | int]:
        return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", path.name)]

    return sorted(found, key=numbered)


def _part(path: Path) -> str:
    return "test" if "test" in path.stem.lower() else "train"
