"""Data without a file: digits and drawn characters by their names, and made-up clusters.

The 1,797 handwritten digits ship with scikit-learn: real images, no download. Kaynak, "Methods of
Combining Multiple Classifiers and Their Applications to Handwritten Digit Recognition", MSc thesis, Bogazici
University, 1995 (the test part of the UCI "Optical Recognition of Handwritten Digits").
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import torch

from samekind.data.branches import whole_branches
from samekind.data.items import Items, Source
from samekind.data.media import Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.characters import characters
from samekind.data.sources.format import Block, Use, block_of
from samekind.errors import SettingError

FORMAT = 'a name ("digits", "characters", "characters/Greek,Hebrew")'


def is_named(source: object) -> bool:
    """Whether a source is a name, or a name and some of its classes: "digits", "characters/Greek,Hebrew". A
    file or folder goes before the latter.
    """
    name, slash, _ = source.partition("/") if isinstance(source, str) else ("", "", "")
    return name in NAMED and not (slash and Path(str(source)).exists())


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any known name."""
    return is_named(path.as_posix())


def labelled(path: Path, settings: DataSettings) -> Items:
    """The items of that name: all, or those of the classes and whole branches after the slash."""
    name, slash, chosen = path.as_posix().partition("/")
    items = NAMED[name]()
    return items.only(whole_branches(chosen.split(","), items.classes)) if slash else items


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """The items of that name, with their labels."""
    yield block_of(labelled(path, use.choices[0]), use.reader, path)


@cache
def digits() -> Items:
    """All digits: inputs (1797, 1, 8, 8) float32 in [0, 1], classes "0" to "9". Cached."""
    # Imported here: it takes a second, and only for the digits.
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    inputs = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16  # stored as 0 to 16
    return Items(
        inputs=inputs,
        labels=torch.tensor(labels, dtype=torch.int64),
        classes=tuple(str(digit) for digit in range(10)),
        name="digits",
        source=Source("digits", DataSettings()),
    )


def clusters(*, classes: int, items: int, dimension: int, spread: float = 0.3, seed: int = 0) -> Items:
    """Gaussian clusters around Gaussian centres: ``items`` vectors in each of ``classes`` classes.

    The centres have unit variance and the items lie ``spread`` around theirs in every direction: 0 puts
    all items of a class on one point, 1 and more makes the classes overlap. The items of a class are
    together, in class order.
    """
    for name, value in (("classes", classes), ("items", items), ("dimension", dimension)):
        if value < 1:
            raise SettingError(f"{name} must be at least 1; got {value}")
    if spread < 0:
        raise SettingError(f"spread must be 0 or more; got {spread}")
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(classes, 1, dimension, generator=generator)
    offsets = torch.randn(classes, items, dimension, generator=generator)
    return Items(
        inputs=(centres + spread * offsets).flatten(0, 1),
        labels=torch.arange(classes).repeat_interleave(items),
        classes=tuple(str(index) for index in range(classes)),
        name="clusters",
    )


NAMED: Mapping[str, Callable[[], Items]] = MappingProxyType({"digits": digits, "characters": characters})
