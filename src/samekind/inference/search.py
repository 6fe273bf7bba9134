"""What is most like this? The best of a gallery for each query, block by block."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.index import best_of
from samekind.inference.embed import asking, device_of
from samekind.space import MetricSpace

#: Queries that meet the gallery together: few, so that a block is wide and few are merged, and it stays in
#: the cache.
STRIP = 512
#: Bytes of working memory on a CPU where nobody says otherwise: more than scoring alone likes, fewer merges.
MEMORY_BUDGET = 8 * 2**20
#: Pairs of a query and an item that it must not find, listed for a strip of queries.
MOST_LISTED = 2**18

Marks = tuple[Tensor, Tensor]  # of the queries (n,), of the gallery (m,)


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
    apart: Marks | None = None,
    memory_budget: int | None = None,
) -> Neighbours:
    """The k most alike of a gallery (m, d) for each query (n, d), the query in the first place of the
    similarity.

    With ``same_items`` the queries are the gallery, and no item finds itself. ``apart`` is a pair of whole
    numbers (n,) and (m,), a mark for each query and each of the gallery: one with the query's own mark is
    passed over, such as the same person before the same camera. Asking for more than there is, is an error,
    and so is a score that is not a number.
    """
    apart = _marks(len(queries), len(gallery), same_items, apart)
    available = len(gallery) - _most_passed_over(apart)
    if not 1 <= k <= available:
        raise SpaceError(f"asked for the {k} nearest, but there are {available} to be found; ask for fewer")
    if not len(queries):
        return Neighbours(torch.empty(0, k), torch.empty(0, k, dtype=torch.int64))
    device = device_of(space)
    queries, gallery = queries.to(device), gallery.to(device)
    if memory_budget is None and device.type == "cpu":
        memory_budget = MEMORY_BUDGET
    with asking(space):
        found = best_of(_walk(space, queries, gallery, kind, apart, memory_budget), k=k)
    return Neighbours(*found)


def _walk(
    space: MetricSpace,
    queries: Tensor,
    gallery: Tensor,
    kind: Kind,
    apart: Marks,
    memory_budget: int | None,
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Blocks of scores, those that are passed over at minus infinity."""
    marks, order = apart[1].sort()
    for top in range(0, len(queries), STRIP):
        strip = slice(top, min(top + STRIP, len(queries)))
        pairs = _same_mark(apart[0][strip], marks, order)
        walk = space.blocks(queries[strip], gallery, kind=kind, memory_budget=memory_budget)
        for rows, columns, scores in walk:
            if pairs is None:
                own = apart[0][strip][rows, None] == apart[1][columns]
                scores = scores.masked_fill(own.to(scores.device), -torch.inf)
            else:
                query, item = pairs[0] - rows.start, pairs[1] - columns.start
                inside = (query >= 0) & (query < len(scores)) & (item >= 0) & (item < scores.shape[1])
                scores[query[inside], item[inside]] = -torch.inf
            yield slice(top + rows.start, top + rows.stop), columns, scores


def _same_mark(queries: Tensor, marks: Tensor, order: Tensor) -> Marks | None:
    """The queries and the items of the gallery that have a mark in common, pair by pair; None where there are
    too many to list, and comparing all of them is as fast. The gallery's marks come sorted, with their order.
    """
    first, behind = torch.searchsorted(marks, queries), torch.searchsorted(marks, queries, right=True)
    counts = behind - first
    if int(counts.sum()) > MOST_LISTED:
        return None
    query = torch.arange(len(queries)).repeat_interleave(counts)
    place = torch.arange(len(query)) - (counts.cumsum(0) - counts)[query] + first[query]
    return query, order[place]


def _marks(queries: int, gallery: int, same_items: bool, apart: Marks | None) -> Marks:
    """Marks that say what is passed over: of all items the item itself, what is asked, or nothing."""
    if same_items and apart is not None:
        raise SpaceError("same_items says already what is passed over; give it or apart, not both")
    if same_items:
        return torch.arange(queries), torch.arange(gallery)
    if apart is None:
        return torch.zeros(queries), torch.ones(gallery)  # no mark in common
    if (apart[0].shape, apart[1].shape) != ((queries,), (gallery,)):
        shapes = f"{tuple(apart[0].shape)} and {tuple(apart[1].shape)}"
        raise SpaceError(
            f"expected marks ({queries},) of queries and ({gallery},) of a gallery, got {shapes}"
        )
    return apart[0].cpu().contiguous(), apart[1].cpu().contiguous()


def _most_passed_over(apart: Marks) -> int:
    """How many of the gallery the query with the most frequent mark does not find."""
    marks, counts = torch.unique(apart[1], return_counts=True)
    asked = torch.isin(marks, apart[0])
    return int(counts[asked].max()) if asked.any() else 0
