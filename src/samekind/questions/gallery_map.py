"""A map of the items of a gallery, and the items whose neighbours have another label.

Of a large gallery t-SNE places some items; every other item lies between the nearest of these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from samekind.data.drawing import at_most
from samekind.errors import SpaceError
from samekind.index import Exact, Index, best_of
from samekind.index.mapped import stored_kind
from samekind.reports.plane import plane
from samekind.similarities import Cosine, blocks
from samekind.similarities.distances import unit_vectors

#: Items that t-SNE places, and how many of them place another item.
PLACED, PLACING = 2_000, 5
#: Nearest items whose labels are compared with an item's own.
NEIGHBOURS = 10
#: The most items on a map.
MOST = 100_000
#: Queries of an index at a time.
AT_ONCE = 4_096


@dataclass(frozen=True)
class GalleryMap:
    """Points (n, 2) of items with their labels. ``doubt`` is the share of an item's nearest neighbours whose
    label is another one, None without labels. ``items`` are those of the whole gallery.
    """

    ids: tuple[str, ...]
    points: Tensor
    labels: tuple[str | None, ...]
    doubt: tuple[float | None, ...]
    items: int

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values: a column for each fact; labels by their place in a list of names."""
        names = sorted({label for label in self.labels if label is not None})
        places = {name: place for place, name in enumerate(names)}
        rounded = [[round(value, 3) for value in column] for column in self.points.T.tolist()]
        return {
            "ids": self.ids,
            "x": rounded[0],
            "y": rounded[1],
            "label": [None if label is None else places[label] for label in self.labels],
            "labels": names,
            "doubt": self.doubt,
            "items": self.items,
            "neighbours": NEIGHBOURS,
        }


def gallery_map(index: Index, *, most: int = MOST, placed: int = PLACED, seed: int = 0) -> GalleryMap:
    """The map of a gallery, or of ``most`` items drawn from it. Raises SpaceError for an empty one."""
    ids = list(index)
    if not ids:
        raise SpaceError("the gallery is empty, so there is no map of it; add items (samekind index add)")
    chosen = ids if len(ids) <= most else [ids[row] for row in at_most(len(ids), most, seed=seed).tolist()]
    z = index.vectors(chosen if len(chosen) < len(ids) else None).float()
    labels = tuple(metadata.get("label") for metadata in index.metadata(chosen))
    if stored_kind(index) is None:
        z = unit_vectors(z)  # what lies in one direction is alike
    return GalleryMap(
        tuple(chosen),
        positions(z, placed=placed, seed=seed),
        labels,
        doubts(index, z, chosen, labels),
        len(ids),
    )


def positions(z: Tensor, *, placed: int = PLACED, seed: int = 0) -> Tensor:
    """Points (n, 2) of vectors (n, d), from -1 to 1: at most ``placed`` of them by t-SNE, each other one at
    the mean of the nearest of these, with larger weights for nearer ones.
    """
    chosen = at_most(len(z), placed, seed=seed)
    points = plane(z[chosen], seed).float()
    if len(chosen) < len(z):
        index = Exact(z.shape[1], score="euclidean")
        index.add([str(place) for place in range(len(chosen))], z[chosen])
        everywhere = torch.empty(len(z), 2)
        for start in range(0, len(z), AT_ONCE):
            scores, names = index.search(z[start : start + AT_ONCE], PLACING)
            near = points[torch.tensor([[int(name) for name in row] for row in names])]
            weights = 1 / (1e-6 - scores).clamp(min=1e-6)  # scores are negative distances
            everywhere[start : start + AT_ONCE] = (near * weights[..., None]).sum(1) / weights.sum(1)[:, None]
        everywhere[chosen] = points
        points = everywhere
    points = points - (points.amax(0) + points.amin(0)) / 2
    return points / points.abs().max().clamp(min=1e-12)


def doubts(
    index: Index, z: Tensor, ids: Sequence[str], labels: Sequence[str | None]
) -> tuple[float | None, ...]:
    """The share of each item's neighbours with another label; None where it, or all of them, have none."""
    names = {label: place for place, label in enumerate(sorted({label for label in labels if label}))}
    numbers = torch.tensor([-1 if label is None else names.get(label, -1) for label in labels])
    answers: list[float | None] = []
    for start, near in _neighbours(index, z, ids):
        rows = torch.arange(start, start + len(near))[:, None]
        counted = (near >= 0) & (near != rows) & (numbers[near.clamp(min=0)] >= 0)
        other = (counted & (numbers[near.clamp(min=0)] != numbers[rows])).sum(1)
        totals = counted.sum(1)
        for number, differ, total in zip(
            numbers[rows[:, 0]].tolist(), other.tolist(), totals.tolist(), strict=True
        ):
            answers.append(None if number < 0 or not total else round(differ / total, 3))
    return tuple(answers)


def _neighbours(index: Index, z: Tensor, ids: Sequence[str]) -> Iterator[tuple[int, Tensor]]:
    """The places of the nearest items of each, perhaps itself, in blocks; -1 for one not on the map."""
    by_index = not index.exact and not index.remote and stored_kind(index) is None
    places = {id: place for place, id in enumerate(ids)} if by_index else {}
    for start in range(0, len(z), AT_ONCE):
        part = z[start : start + AT_ONCE]
        if by_index:  # much quicker than comparing everything
            rows = index.search(part, NEIGHBOURS + 1).ids
            yield start, torch.tensor([[places.get(id, -1) for id in row] for row in rows])
        else:
            k = min(NEIGHBOURS + 1, len(z))
            yield start, best_of(blocks(Cosine(), part, z), k=k)[1]
