"""Vectors as a table that Apple's embedding-atlas opens: where each item lies, and its neighbours.

Ren, Hohman, Lin and Moritz, "Embedding Atlas: Low-Friction, Interactive Embedding Visualization", 2025.
"""

from typing import Any

from samekind.index import best_of
from samekind.questions.embedded import Embedded
from samekind.questions.gallery_map import positions
from samekind.similarities import Cosine, blocks
from samekind.similarities.distances import unit_vectors

#: Neighbours of each item, and the most items that are all compared for them.
NEIGHBOURS, MOST = 10, 20_000


def atlas_columns(answer: Embedded, *, seed: int = 0) -> dict[str, list[Any]]:
    """The columns id, label, x and y of embedded items and, for at most 20,000, their neighbours.

    Points are those of the map of a gallery. Neighbours are row numbers with distances, 1 - cosine, nearest
    first, the item itself not among them.
    """
    z = unit_vectors(answer.z.float())
    x, y = positions(z, seed=seed).T.tolist()
    columns: dict[str, list[Any]] = {"id": [*answer.ids], "label": [*answer.labels], "x": x, "y": y}
    if 1 < len(z) <= MOST:
        scores, places = best_of(blocks(Cosine(), z, z), k=min(NEIGHBOURS + 1, len(z)))
        rows = zip(places.tolist(), (1 - scores).clamp(min=0).tolist(), strict=True)
        columns["neighbours"] = [_others(own, *row) for own, row in enumerate(rows)]
    return columns


def _others(own: int, places: list[int], distances: list[float]) -> dict[str, list[Any]]:
    """Without the item itself, which may stand behind its copies or, if there are many, be left out."""
    others = [pair for pair in zip(places, distances, strict=True) if pair[0] != own][:NEIGHBOURS]
    return {"ids": [place for place, _ in others], "distances": [distance for _, distance in others]}
