"""Quadruplet loss: a positive pair beats the anchor's negatives, and also pairs of two other classes.

Chen et al., "Beyond Triplet Loss: A Deep Quadruplet Network for Person Re-Identification", CVPR 2017. It is
`triplet` and a second, weaker hinge that holds classes together independently of the anchor. The paper reads
squared distances: use the similarity SquaredEuclidean.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.losses import row_blocks
from samekind.losses.inputs import check, check_between
from samekind.losses.triplet import triplet
from samekind.similarities.transforms import transforming


def quadruplet(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    between: Tensor | None = None,
    margin: float = 1.0,
    second_margin: float = 0.5,
) -> Tensor:
    """`triplet` plus the mean over an anchor's positives p and pairs (n, m) of its negatives, of two
    classes, of [second_margin + score(n, m) - score(a, p)]₊.

    ``between`` (candidates, candidates) holds score(n, m). The margins are fixed; the paper takes 1 and
    ½ times the gap between the mean distances of negative and of positive pairs. An anchor with no positive
    or no negative costs 0; one whose negatives are all of one class costs what it does in `triplet`. Exact
    in memory of order anchors x candidates and candidates x candidates: with the bars score(a, p) in order,
    the pairs that break them are counted into the gaps.
    """
    check(scores, positive, negative)
    between = check_between(between, scores)
    first = triplet(scores, positive, negative, margin=margin)
    anchors, positives = row_blocks.positive_pairs(positive, negative)
    if not len(anchors):
        return first
    # Sums over all pairs, minus some of them again, need double precision.
    exact = torch.float64 if scores.device.type != "mps" else torch.float32
    bars = scores[anchors, positives].to(exact) - second_margin
    if transforming():
        breach, pairs = _plain_breach(between, bars, negative[anchors])
        second = row_blocks.mean_by_anchor(breach / pairs.clamp(min=1), anchors, positive)
        return first + second.to(scores.dtype)
    breach, pairs = _Breach.apply(between, bars, *_selections(anchors, negative))  # type: ignore[no-untyped-call]
    second = row_blocks.mean_by_anchor(breach / pairs.clamp(min=1), anchors, positive)
    return first + second.clamp(min=0).to(scores.dtype)


#: A difference this small a part of the sums it is taken of has lost its digits.
LOST = 1e-6


class _Selection(NamedTuple):
    """Cells of a table, and the bars they are held against."""

    sign: int
    rows: Tensor
    columns: Tensor | None  # None for all columns
    bars: Tensor


def _selections(anchors: Tensor, negative: Tensor) -> tuple[list[_Selection], list[_Selection]]:
    """Which cells of ``between`` each bar is held against: both row and column are negatives of its anchor.

    Anchors with the same negatives, such as those of a class, go together. Where nearly all candidates are
    negatives it is quicker to take all cells once, for all such anchors, and to subtract the few others: the
    second list has the cells of these anchors themselves.
    """
    selections, alone = [], []
    patterns, pattern = torch.unique(negative, dim=0, return_inverse=True)
    pattern = pattern[anchors]
    sizes = pattern.bincount(minlength=len(patterns)).tolist()
    bars_of_patterns = torch.split(pattern.argsort(stable=True), sizes)
    everyone = negative.any(0).nonzero().flatten()  # the others may hold anything
    columns = everyone if len(everyone) < negative.shape[1] else None
    for inside, bars in zip(patterns, bars_of_patterns, strict=True):
        here, elsewhere = everyone[inside[everyone]], everyone[~inside[everyone]]
        if not len(bars):
            continue
        if len(here) ** 2 <= 2 * len(elsewhere) * len(everyone):
            selections.append(_Selection(1, here, here, bars))
            continue
        alone.append(_Selection(1, here, here, bars))
        selections.append(_Selection(-1, elsewhere, columns, bars))
        selections.append(_Selection(-1, everyone, elsewhere, bars))
        selections.append(_Selection(1, elsewhere, elsewhere, bars))
    if alone:
        selections.append(_Selection(1, everyone, columns, torch.cat([own.bars for own in alone])))
    return selections, alone


class _Breach(torch.autograd.Function):
    """For each bar, the sum by which its cells exceed it, and how many cells it has; -inf is no cell.

    A difference of sums that has lost its digits, as one cell may be far larger than all others, is computed
    again without differences.
    """

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, bars: Tensor, selections: list[_Selection], alone: list[_Selection]
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(table, bars)
        ctx.selections = selections
        breach, cells, summed = torch.zeros(3, len(bars), dtype=bars.dtype, device=bars.device)
        for selection in selections:
            excess, count = _excess(table, bars, selection)
            breach[selection.bars] += selection.sign * excess
            cells[selection.bars] += selection.sign * count
            summed[selection.bars] += excess
        for own in alone:
            lost = own.bars[~(breach[own.bars] >= LOST * summed[own.bars])]
            if len(lost):
                breach[lost], _ = _excess(table, bars, own._replace(bars=lost))
        ctx.mark_non_differentiable(cells)
        return breach, cells

    @staticmethod
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor, Tensor, None, None]:
        table, bars = ctx.saved_tensors
        to_table = torch.zeros_like(table, dtype=torch.promote_types(table.dtype, torch.float32))
        to_bars = torch.zeros_like(bars)
        for sign, rows, columns, which in ctx.selections:
            ordered, order = bars[which].sort()
            weights = sign * upstream[which[order]]
            reach = F.pad(weights.cumsum(0), (1, 0))
            counts = torch.zeros_like(reach)
            for cell in _blocks(rows, columns, table):
                exceeded = torch.searchsorted(ordered, table[cell].to(bars.dtype))
                to_table[cell] += reach[exceeded].to(to_table.dtype)
                counts += exceeded.flatten().bincount(minlength=len(counts))
            to_bars[which[order]] -= weights * _tail_sums(counts)
        return to_table.to(table.dtype), to_bars, None, None


def _plain_breach(table: Tensor, bars: Tensor, within: Tensor) -> tuple[Tensor, Tensor]:
    """The same of all cells whose row and column are within (bars, candidates), with all of them at once."""
    cells = within[:, :, None] & within[:, None, :] & table.isfinite()
    excess = (table.to(bars.dtype) - bars[:, None, None]).where(cells, 0).clamp(min=0)
    return excess.sum((1, 2)), cells.sum((1, 2))


def _excess(table: Tensor, bars: Tensor, selection: _Selection) -> tuple[Tensor, int]:
    """By how much the selected cells exceed each of their bars, in all, and how many cells there are.

    With the bars sorted, a cell exceeds the first few of them: cells are summed by that number.
    """
    ordered, order = bars[selection.bars].sort()
    sums, counts = ordered.new_zeros(len(order) + 1), ordered.new_zeros(len(order) + 1)
    cells = 0
    for cell in _blocks(selection.rows, selection.columns, table):
        values = table[cell].flatten().to(bars.dtype)
        exceeded = torch.searchsorted(ordered, values)
        sums.index_add_(0, exceeded, values)
        counts.index_add_(0, exceeded, torch.ones_like(values))
        cells += int(values.isfinite().sum())
    return torch.empty_like(ordered).index_copy(
        0, order, _tail_sums(sums) - _tail_sums(counts) * ordered
    ), cells


def _blocks(rows: Tensor, columns: Tensor | None, table: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The index of the cells, a block at a time."""
    width = len(columns) if columns is not None else table.shape[1]
    for some in torch.split(rows, max(1, row_blocks.BLOCK // max(1, width))):
        yield (some,) if columns is None else (some[:, None], columns)


def _tail_sums(values: Tensor) -> Tensor:
    """Sums of all but the first 1, 2, … n values: (n + 1,) -> (n,)."""
    return values[1:].flip(0).cumsum(0).flip(0)
