"""What is most like this? The best of a gallery for each query, block by block."""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.errors import SpaceError
from samekind.inference.embed import asking, device_of
from samekind.space import Kind, MetricSpace


class Neighbours(NamedTuple):
    """The k best of a gallery for each query, best first; ties in the order of the gallery."""

    scores: Tensor  # (queries, k)
    indices: Tensor  # (queries, k)


def search(
    space: MetricSpace,
    queries: Tensor,
    gallery: Tensor,
    *,
    k: int,
    kind: Kind = "similarity",
    same_items: bool = False,
    memory_budget: int | None = None,
) -> Neighbours:
    """The k most alike of a gallery (m, d) for each query (n, d), the query in the first place of the
    similarity.

    With ``same_items`` the queries are the gallery, and no item finds itself. Asking for more than there
    is, is an error.
    """
    available = len(gallery) - same_items
    if not 1 <= k <= available:
        raise SpaceError(f"asked for the {k} nearest, but there are {available} to be found; ask for fewer")
    device = device_of(space)
    queries, gallery = queries.to(device), gallery.to(device)
    best = torch.full((len(queries), k), -torch.inf)
    which = torch.full((len(queries), k), -1)
    with asking(space):
        walk = space.blocks(queries, gallery, kind=kind, memory_budget=memory_budget)
        for rows, columns, scores in walk:
            _merge(best, which, rows, columns, scores.float().cpu(), same_items)
    return Neighbours(best, which)


def _merge(
    best: Tensor, which: Tensor, rows: slice, columns: slice, scores: Tensor, same_items: bool
) -> None:
    """Let a block of scores compete with the best so far, in place."""
    numbers = torch.arange(columns.start, columns.stop)
    if same_items:
        itself = torch.arange(rows.start, rows.stop)[:, None] == numbers
        scores = scores.masked_fill(itself, -torch.inf)
    # Blocks come in the order of the gallery and the sort is stable, so ties keep that order.
    merged, order = torch.cat([best[rows], scores], dim=1).sort(dim=1, descending=True, stable=True)
    merged_which = torch.cat([which[rows], numbers.expand(len(scores), -1)], dim=1).gather(1, order)
    best[rows], which[rows] = merged[:, : best.shape[1]], merged_which[:, : best.shape[1]]
