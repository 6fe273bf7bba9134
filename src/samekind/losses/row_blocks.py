"""A loss row by row, a block of rows at a time: exact, in bounded memory.

A row is an anchor, or one (anchor, positive) pair. There may be far more pairs than anchors, so they are
never held at once, nor what autograd would keep of them: the backward pass computes the blocks again. Only
a backward pass that is to be differentiated itself holds all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any

import torch
from torch import Tensor

from samekind.similarities.transforms import transforming

#: Numbers in a block of rows. Rows that fit into one block are computed once.
BLOCK = 2**22

#: For each row of the loss the row of a table that it reads; None for the same row, ``...`` for the table.
Index = Tensor | None | EllipsisType


def row_by_row(cost: Callable[..., Tensor], *tables: tuple[Tensor, Index]) -> Tensor:
    """The cost of each row: (rows,).

    ``cost`` gets a block of rows of each table, in float32 at least, and gives one number per row. The
    first table is the widest: a block has as many of its rows as make BLOCK numbers, or one.
    """
    scores, index = tables[0]
    rows = len(index) if isinstance(index, Tensor) else len(scores)
    if not rows or not scores.shape[1]:
        return _rows(scores, index, slice(None)).sum(1)
    size = max(1, BLOCK // scores.shape[1])
    if rows <= size or transforming():
        return cost(*(_exact(_rows(table, index, slice(None))) for table, index in tables))
    blocks = [slice(start, start + size) for start in range(0, rows, size)]
    indices = [index for _, index in tables]
    costs: Tensor = _InBlocks.apply(cost, blocks, indices, *(table for table, _ in tables))  # type: ignore[no-untyped-call]
    return costs


def positive_pairs(positive: Tensor, negative: Tensor) -> tuple[Tensor, Tensor]:
    """The anchor and the positive of each positive pair whose anchor has a negative: two of (pairs,)."""
    anchors, positives = (positive & negative.any(1, keepdim=True)).nonzero(as_tuple=True)
    return anchors, positives


def mean_over_positives(
    cost: Callable[..., Tensor],
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    of_anchors: Sequence[Tensor] = (),
    of_positives: Sequence[Tensor] = (),
) -> Tensor:
    """The mean cost of each anchor's positive pairs: (anchors,), 0 for one with no positive or no negative.

    ``cost`` gets a row for each pair: the scores of the anchor, the mask of its negatives, the number of the
    positive (pairs, 1), then the anchor's rows of ``of_anchors`` and the positive's of ``of_positives``.
    """
    anchors, positives = positive_pairs(positive, negative)
    tables: list[tuple[Tensor, Index]] = [(scores, anchors), (negative, anchors), (positives[:, None], None)]
    tables += [(table, anchors) for table in of_anchors]
    tables += [(table, positives) for table in of_positives]
    return mean_by_anchor(row_by_row(cost, *tables), anchors, positive).to(scores.dtype)


def mean_by_anchor(costs: Tensor, anchors: Tensor, positive: Tensor) -> Tensor:
    """The mean cost of each anchor's positive pairs; 0 for an anchor that has none."""
    total = costs.new_zeros(len(positive)).index_add(0, anchors, costs)
    return total / positive.sum(1).clamp(min=1)


class _InBlocks(torch.autograd.Function):
    """The cost of each row. Only the tables are kept; the gradient computes each block again."""

    @staticmethod
    def forward(
        ctx: Any, cost: Callable[..., Tensor], blocks: list[slice], indices: list[Index], *tables: Tensor
    ) -> Tensor:
        ctx.cost, ctx.blocks, ctx.indices = cost, blocks, indices
        ctx.save_for_backward(*tables)
        return torch.cat([cost(*read) for read in _reads(tables, indices, blocks)])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        tables, indices = ctx.saved_tensors, ctx.indices
        learned = [place for place in range(len(tables)) if ctx.needs_input_grad[place + 3]]
        if torch.is_grad_enabled():
            return None, None, None, *_differentiable(ctx, tables, learned, upstream)
        gradients = {place: torch.zeros_like(_exact(tables[place])) for place in learned}
        for block, read in zip(ctx.blocks, _reads(tables, indices, ctx.blocks), strict=True):
            leaves = [read[place].requires_grad_() for place in learned]
            with torch.enable_grad():
                costs = ctx.cost(*read)
            parts = torch.autograd.grad(costs, leaves, upstream[block])
            for place, part in zip(learned, parts, strict=True):
                index = indices[place]
                if isinstance(index, Tensor):
                    gradients[place].index_add_(0, index[block], part)
                else:
                    gradients[place][block if index is None else index] += part
        to_tables = (
            gradients[place].to(table.dtype) if place in gradients else None
            for place, table in enumerate(tables)
        )
        return None, None, None, *to_tables


def _differentiable(
    ctx: Any, tables: tuple[Tensor, ...], learned: list[int], upstream: Tensor
) -> list[Tensor | None]:
    """The gradients of the tables, all rows at once, with a graph of their own."""
    # Views, as one table may have been computed from another: the gradient must end here.
    views = [table.view_as(table) for table in tables]
    costs = ctx.cost(
        *(_exact(_rows(table, index, slice(None))) for table, index in zip(views, ctx.indices, strict=True))
    )
    parts = torch.autograd.grad(costs, [views[place] for place in learned], upstream, create_graph=True)
    by_place = dict(zip(learned, parts, strict=True))
    return [by_place.get(place) for place in range(len(tables))]


def _reads(tables: tuple[Tensor, ...], indices: list[Index], blocks: list[slice]) -> Iterator[list[Tensor]]:
    """The rows that the cost reads, block after block, without a graph."""
    for block in blocks:
        yield [
            _exact(_rows(table, index, block)).detach() for table, index in zip(tables, indices, strict=True)
        ]


def _rows(table: Tensor, index: Index, block: slice) -> Tensor:
    if isinstance(index, Tensor):
        return table[index[block]]
    return table[block if index is None else index]


def _exact(table: Tensor) -> Tensor:
    """In float32 at least, if it holds fractions: half precision has no digits for differences of scores."""
    floating = table.is_floating_point()
    return table.to(torch.promote_types(table.dtype, torch.float32)) if floating else table
