"""The gallery of an exported space: stored embeddings that are compared one by one."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from samekind.errors import SpaceError
from samekind.plain_files import Array, read_json
from samekind.portable.description import GALLERY, GALLERY_ITEMS, Description, read_file, read_numbers
from samekind.portable.scores import Score


class Match(NamedTuple):
    """An item of the gallery, and its score."""

    id: str
    label: str | None
    score: float


class Gallery:
    """Embeddings (n, d) with ids and labels. What a kind of score maps them to is computed once."""

    def __init__(self, z: Array, ids: list[str], labels: list[str | None]) -> None:
        self.z, self.ids, self.labels = z, ids, labels
        self._mapped: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, z: Array, k: int, *, kind: str, score: Score) -> list[list[Match]]:
        """The k items with the highest scores for each of (n, d) embeddings, best first; of equal scores the
        item that comes first.
        """
        if kind not in self._mapped:
            self._mapped[kind] = _in_parts(score.second, self.z)
        scores = score.between(score.first(z), self._mapped[kind])
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return [
            [Match(self.ids[place], self.labels[place], float(row[place])) for place in places.tolist()]
            for row, places in zip(scores, order, strict=True)
        ]


def _in_parts(function: Callable[[Array], Array], z: Array, size: int = 512) -> Array:
    """A function of embeddings, some of them at a time."""
    if not len(z):
        return z
    return np.concatenate([function(z[start : start + size]) for start in range(0, len(z), size)])


def read_gallery(folder: Path, description: Description) -> Gallery | None:
    """The gallery of a folder; None if there is none."""
    if GALLERY not in description.files:
        return None
    z = read_numbers(folder, GALLERY, description, axes=2)
    try:
        items = read_json(read_file(folder, GALLERY_ITEMS, description))
        ids, labels = items["ids"], items["labels"]
        fits = len(ids) == len(labels) == len(z) and z.shape[1] == description.dimension
    except (ValueError, KeyError, TypeError) as error:
        raise SpaceError(f"{folder} is damaged: {GALLERY_ITEMS} cannot be read ({error})") from error
    if not fits:
        raise SpaceError(f"{folder} is damaged: the files of its gallery do not fit each other")
    return Gallery(z, ids, labels)
