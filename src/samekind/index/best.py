"""The k best of scores that come block by block; equal scores keep the order of the candidates."""

from collections.abc import Iterable

import torch
from torch import Tensor

from samekind.errors import SpaceError


def best_of(walk: Iterable[tuple[slice, slice, Tensor]], *, k: int) -> tuple[Tensor, Tensor]:
    """Scores and indices (rows, min(k, columns)) of the best columns of each row, best first, on the CPU.

    ``walk`` yields blocks ``(rows, columns, scores)`` as `similarities.blocks` does: all columns of a block
    of rows, in order, then the next rows. Raises SpaceError if a score is NaN.
    """
    parts: list[tuple[Tensor, Tensor]] = []
    for _, columns, scores in walk:
        values, which = (part.cpu() for part in _top(scores.float(), k))
        # topk and sort put NaN first, so that the first score of each row tells.
        if values[:, :1].isnan().any():
            raise SpaceError("a score is not a number (NaN); look at the vectors and at the similarity")
        which += columns.start
        if columns.start:
            earlier_values, earlier = parts.pop()
            # Earlier columns stand first, so that a stable sort keeps the order.
            merged = torch.cat([earlier_values, values], dim=1).sort(dim=1, descending=True, stable=True)
            values = merged.values[:, :k]
            which = torch.cat([earlier, which], dim=1).gather(1, merged.indices[:, :k])
        parts.append((values, which))
    if not parts:
        return torch.empty(0, 0), torch.empty(0, 0, dtype=torch.int64)
    return torch.cat([values for values, _ in parts]), torch.cat([which for _, which in parts])


def _top(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k best (rows, k) of scores (rows, columns); of equal scores the lower index."""
    if scores.shape[1] <= k:
        values, which = scores.sort(dim=1, descending=True, stable=True)
        return values, which
    values, which = scores.topk(k + 1, dim=1)
    # topk is much faster than a sort, but takes any of several equals. Where the k-th and the next score
    # differ, it took the right ones, and they only have to be put in order.
    doubtful = (values[:, k - 1] == values[:, k]).nonzero().flatten()
    which = which[:, :k].sort(dim=1).values
    if len(doubtful):
        which[doubtful] = scores[doubtful].sort(dim=1, descending=True, stable=True).indices[:, :k]
    values, order = scores.gather(1, which).sort(dim=1, descending=True, stable=True)
    return values, which.gather(1, order)
