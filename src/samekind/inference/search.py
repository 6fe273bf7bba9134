"""What is most like this? The best of a gallery for each query, block by block."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.index import best_of
from samekind.inference.embed import asking, device_of
from samekind.similarities.blocks import blocks, prepared
from samekind.space import MetricSpace

#: Queries at a time: few, so that blocks are wide, few are merged, and they stay in the cache.
STRIP = 512
#: Default bytes of working memory on a CPU: more than scoring alone needs, for fewer merges.
MEMORY_BUDGET = 8 * 2**20
#: The most pairs of a query and an excluded item that are listed for a strip of queries.
MOST_EXCLUDED_PAIRS = 2**18

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
    kind: Kind | None = None,
    same_items: bool = False,
    apart: Marks | None = None,
    memory_budget: int | None = None,
) -> Neighbours:
    """The k most similar of a gallery (m, d) for each query (n, d). The query is the first argument of the
    similarity.

    With ``same_items`` the queries are the gallery, and no item finds itself. ``apart`` has marks, whole
    numbers (n,) for the queries and (m,) for the gallery: a query does not find an item of its own mark,
    such as the same person before the same camera. Raises SpaceError for a k above what can be found, and
    for a NaN score.
    """
    kind = kind or space.kind_for("neighbours")
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
        return Neighbours(*best_of(_walk(space, queries, gallery, kind, apart, memory_budget), k=k))


def _walk(
    space: MetricSpace, queries: Tensor, gallery: Tensor, kind: Kind, apart: Marks, memory_budget: int | None
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Blocks of scores, with minus infinity for excluded items."""
    marks, order = apart[1].sort()
    # Once for all strips: a fitted similarity maps embeddings first.
    scorer, queries, gallery = prepared(space.scorer(kind), queries, gallery)
    for top in range(0, len(queries), STRIP):
        strip = slice(top, min(top + STRIP, len(queries)))
        pairs = _same_mark(apart[0][strip], marks, order)
        walk = blocks(scorer, queries[strip], gallery, memory_budget=memory_budget)
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
    """The pairs of a query and an item with the same mark; None if they are too many to list, and comparing
    all marks is as fast. The gallery's marks are sorted, ``order`` says how.
    """
    first = torch.searchsorted(marks, queries)
    counts = torch.searchsorted(marks, queries, right=True) - first
    if int(counts.sum()) > MOST_EXCLUDED_PAIRS:
        return None
    query = torch.arange(len(queries)).repeat_interleave(counts)
    place = torch.arange(len(query)) - (counts.cumsum(0) - counts)[query] + first[query]
    return query, order[place]


def _marks(queries: int, gallery: int, same_items: bool, apart: Marks | None) -> Marks:
    """Marks that exclude the item itself, what ``apart`` says, or nothing."""
    if same_items and apart is not None:
        raise SpaceError("same_items already says what is excluded; give it or apart, not both")
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
    """The most items of the gallery that are excluded for one query."""
    marks, counts = torch.unique(apart[1], return_counts=True)
    shared = torch.isin(marks, apart[0])
    return int(counts[shared].max()) if shared.any() else 0
