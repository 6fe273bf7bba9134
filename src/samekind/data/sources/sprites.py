"""Sprites: many small square pictures in one PNG, a picture a row, with their labels in a JSON file.

CIFAR-10 is published so for browsers: a row of 1,024 pixels is a picture of 32 x 32, line by line;
``data_batch_1.png`` to ``data_batch_5.png`` have their labels in ``train_labels.json``, ``test_batch.png`` in
``test_labels.json`` (or, misspelt, ``lables``).
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from samekind.data.files import is_hidden
from samekind.data.items import Items
from samekind.data.media import PICTURES, Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use, block_of
from samekind.data.sources.listing import published
from samekind.data.sources.loading import in_memory
from samekind.decoding.pixels import reason
from samekind.errors import DataError
from samekind.plain_files import read_json

FORMAT = "a folder of sprites"


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """A folder with PNG files, a JSON file of labels, and no folders."""
    if not path.is_dir() or not (reader is None or reader.medium is PICTURES):
        return False
    folders = any(entry.is_dir() and not is_hidden(entry.name) for entry in path.iterdir())
    return not folders and bool(_label_files(path)) and bool(_named(path, "*.png"))


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """The pictures, with their labels."""
    yield block_of(labelled(path, DataSettings()), use.reader, path)


def labelled(path: Path, settings: DataSettings) -> Items:
    """The pictures of all sprites in a folder; those for training and for testing know their part."""
    inputs: list[Tensor] = []
    labels: list[str] = []
    parts: list[str] = []
    for part, label_file in sorted(_label_files(path).items(), key=lambda entry: entry[0] != "train"):
        sprites = [file for file in _named(path, "*.png") if _part(file) == part]
        if not sprites:
            raise DataError(f"{label_file} has labels, but there is no sprite (.png) for {part} beside it")
        pictures = [read_sprite(file) for file in sprites]
        names = _read_labels(label_file)
        if len(names) != sum(map(len, pictures)):
            raise DataError(
                f"{label_file.name} has {len(names)} labels, but {', '.join(file.name for file in sprites)} "
                f"have {sum(map(len, pictures))} pictures"
            )
        inputs, labels, parts = inputs + pictures, labels + names, parts + [part] * len(names)
    if len({pictures.shape[1:] for pictures in inputs}) > 1:
        raise DataError(f"the sprites of {path} hold pictures of different sizes")
    return in_memory(torch.cat(inputs), published(path.name, labels, parts), settings)


def read_sprite(path: Path) -> Tensor:
    """A sprite as pictures uint8 (rows, 1 or 3, side, side)."""
    try:
        with Image.open(path) as sprite:
            pixels = np.asarray(sprite if sprite.mode in ("L", "RGB") else sprite.convert("RGB"))
    except Exception as error:  # Pillow fails in many ways, and all mean that the file cannot be read
        raise DataError(f"cannot read {path}: {reason(error)}") from error
    rows, width = pixels.shape[:2]
    side = math.isqrt(width)
    if side * side != width:
        raise DataError(
            f"{path} is {width} pixels wide, which is not a square number; "
            "a row of a sprite is one square picture, line after line"
        )
    return torch.from_numpy(pixels.reshape(rows, side, side, -1).transpose(0, 3, 1, 2).copy())


def _read_labels(path: Path) -> list[str]:
    try:
        labels = read_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the labels {path}: {error}") from error
    if not isinstance(labels, list) or not all(
        type(label) in (int, str) and str(label).strip() for label in labels
    ):
        raise DataError(f"{path} must be a JSON list of labels, one number or text for each picture")
    return [str(label) for label in labels]


def _label_files(folder: Path) -> dict[str, Path]:
    files = [file for file in _named(folder, "*.json") if "label" in file.stem or "lable" in file.stem]
    return {_part(file): file for file in files}


def _named(folder: Path, pattern: str) -> list[Path]:
    """Files by their numbers, as the labels are: batch 2 comes before batch 10."""
    files = [file for file in folder.glob(pattern) if not is_hidden(file.name)]

    def numbered(path: Path) -> list[str | int]:
        return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", path.name)]

    return sorted(files, key=numbered)


def _part(path: Path) -> str:
    return "test" if "test" in path.stem.lower() else "train"
