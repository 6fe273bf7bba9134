"""Every a against every b, in a memory budget."""

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from samekind.similarities.scale import Scale

#: Bytes of working memory where nobody says otherwise: on a CPU a block then stays in the cache (measured to
#: be the fastest), on anything else it is large enough to keep the device busy.
MEMORY_BUDGET = {"cpu": 4 * 2**20, "other": 2**30}


#: Blocks that are wider than this many columns have a multiple of them.
EVEN = 32


class Similarity(Protocol):
    """What every member of this room is."""

    kind: str
    symmetric: bool  # whether the order of its arguments does not matter
    chords: bool  # whether the distance it scores by is that of points on the unit sphere, in a straight line
    scale: Scale

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        """Paired scores: (n, d), (n, d) -> (n,)."""

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""

    def pair_bytes(self, dimension: int) -> int:
        """The working memory one pair takes, in bytes."""


class Scorer(Protocol):
    """What scores one block after the other."""

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""


def blocks(
    similarity: Similarity, a: Tensor, b: Tensor, *, memory_budget: int | None = None
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield ``(rows, columns, scores)`` until every a has met every b, row blocks first, in order.

    Each block's working memory stays within the budget (in bytes), but a block has at least one pair. A
    similarity that can make itself ready once for all blocks says so by a method ``frozen(a, b)``, which
    returns what scores them.
    """
    if memory_budget is None:
        memory_budget = MEMORY_BUDGET.get(a.device.type, MEMORY_BUDGET["other"])
    pairs = max(1, memory_budget // similarity.pair_bytes(a.shape[-1]))
    # Square blocks reuse each side most; a short side leaves its room to the other.
    width = max(math.isqrt(pairs), pairs // max(1, len(a)))
    # Even, because vectors, tiles and caches of the hardware are.
    width = len(b) if width >= len(b) else width - width % EVEN if width > EVEN else width
    height = max(1, pairs // max(1, width))
    height = max(1, math.ceil(len(a) / max(1, math.ceil(len(a) / height))))  # as high as each other
    scorer = ready(similarity, a, b)
    for top in range(0, len(a), height):
        for left in range(0, len(b), max(1, width)):
            rows, columns = slice(top, min(top + height, len(a))), slice(left, min(left + width, len(b)))
            yield rows, columns, scorer.score_all(a[rows], b[columns])


def ready(similarity: Similarity, a: Tensor, b: Tensor) -> Scorer:
    """What scores a and b, or all blocks of them: the similarity, or what it makes of itself for them."""
    frozen: Callable[[Tensor, Tensor], Scorer] | None = getattr(similarity, "frozen", None)
    return similarity if frozen is None else frozen(a, b)


def score_all(similarity: Similarity, a: Tensor, b: Tensor, *, memory_budget: int | None = None) -> Tensor:
    """The matrix of all scores (n, m), filled block by block."""
    scores: Tensor | None = None
    for rows, columns, block in blocks(similarity, a, b, memory_budget=memory_budget):
        if scores is None:
            scores = torch.empty(len(a), len(b), dtype=block.dtype, device=block.device)
        scores[rows, columns] = block
    return torch.empty(len(a), len(b), dtype=a.dtype, device=a.device) if scores is None else scores
