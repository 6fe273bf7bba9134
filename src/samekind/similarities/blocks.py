"""Every a against every b, within a memory budget."""

import math
from collections.abc import Callable, Iterator
from typing import Literal, Protocol

import torch
from torch import Tensor

from samekind.similarities.dot import Dot
from samekind.similarities.scale import Scale

#: The place of an item in a similarity.
Side = Literal["first", "second"]

#: Default bytes of working memory: on a CPU a block stays in the cache (measured to be the fastest), on any
#: other device it is large enough to keep it busy.
MEMORY_BUDGET = {"cpu": 4 * 2**20, "other": 2**30}


#: The width of a wide block is a multiple of this, which suits vectors, tiles and caches of the hardware.
EVEN = 32


class Similarity(Protocol):
    """The contract of every similarity."""

    quantity: str
    symmetric: bool  # whether the order of its arguments does not matter
    chords: bool  # whether it scores by the straight-line distance of points on the unit sphere
    scale: Scale

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        """Paired scores: (n, d), (n, d) -> (n,)."""

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""

    def pair_bytes(self, dimension: int) -> int:
        """The working memory one pair takes, in bytes."""


class Scorer(Protocol):
    """A scorer of one block after the other."""

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""


def blocks(
    similarity: Similarity, a: Tensor, b: Tensor, *, memory_budget: int | None = None
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield ``(rows, columns, scores)`` for every a and every b, row blocks first, in order.

    Each block's working memory stays within the budget (in bytes), but a block has at least one pair. A
    similarity may have a method ``frozen(a, b)``, which returns a scorer prepared once for all blocks, or
    map its arguments once (`prepared`).
    """
    similarity, a, b = prepared(similarity, a, b)
    if memory_budget is None:
        memory_budget = MEMORY_BUDGET.get(a.device.type, MEMORY_BUDGET["other"])
    pairs = max(1, memory_budget // similarity.pair_bytes(a.shape[-1]))
    # Square blocks reuse each side most, unless one side is short.
    width = max(math.isqrt(pairs), pairs // max(1, len(a)))
    width = len(b) if width >= len(b) else width - width % EVEN if width > EVEN else width
    height = max(1, pairs // max(1, width))
    height = max(1, math.ceil(len(a) / max(1, math.ceil(len(a) / height))))  # of equal height
    scorer = ready(similarity, a, b)
    for top in range(0, len(a), height):
        for left in range(0, len(b), max(1, width)):
            rows, columns = slice(top, min(top + height, len(a))), slice(left, min(left + width, len(b)))
            yield rows, columns, scorer.score_all(a[rows], b[columns])


def every_pair(similarity: Similarity, a: Tensor, b: Tensor) -> Tensor:
    """Every a against every b all at once, (n, d), (m, d) -> (n, m): what a graph that is written down
    computes, which has no blocks and no choices.
    """
    if isinstance(similarity, Dot) or mapping_of(similarity) is not None:
        return similarity.score_all(a, b)
    return similarity(a[:, None], b)


def ready(similarity: Similarity, a: Tensor, b: Tensor) -> Scorer:
    """The scorer of the blocks of a and b: the similarity itself, or its frozen form."""
    frozen: Callable[[Tensor, Tensor], Scorer] | None = getattr(similarity, "frozen", None)
    return similarity if frozen is None else frozen(a, b)


def mapping_of(similarity: Similarity) -> Callable[[Tensor, Side], Tensor] | None:
    """The map to vectors whose inner products are the scores, for a similarity that has one; else None."""
    mapped: Callable[[Tensor, Side], Tensor] | None = getattr(similarity, "mapped", None)
    return mapped


def prepared(similarity: Similarity, a: Tensor, b: Tensor) -> tuple[Similarity, Tensor, Tensor]:
    """The scorer of all blocks of a and b, and its inputs in their place.

    A similarity may have a method ``prepared(a, b)`` for this: a fitted one maps embeddings once, and then
    takes inner products. Whoever walks the same embeddings several times asks before the first walk.
    """
    own: Callable[[Tensor, Tensor], tuple[Similarity, Tensor, Tensor]] | None
    own = getattr(similarity, "prepared", None)
    return (similarity, a, b) if own is None else own(a, b)


def counts_matter(similarity: Similarity) -> bool:
    """Whether a similarity asks how many items an enrolment is the mean of: whether it has ``enrolled``."""
    return getattr(similarity, "enrolled", None) is not None


def enrolled_vectors(similarity: Similarity, a: Tensor, b: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors whose inner products are the scores of enrolments a and items b, where `counts_matter`."""
    pairs: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] = getattr(similarity, "enrolled")  # noqa: B009
    return pairs(a, b, counts)


def prepared_enrolments(
    similarity: Similarity, a: Tensor, b: Tensor, counts: Tensor
) -> tuple[Similarity, Tensor, Tensor]:
    """`prepared` for enrolments a, each the mean of ``counts`` (n,) items, 0 for very many or an unknown
    number. Whoever asks about parts of the same enrolments and items prepares all of them once.
    """
    if not counts_matter(similarity):
        return prepared(similarity, a, b)
    return Dot(), *enrolled_vectors(similarity, a, b, counts)


def score_enrolled(
    similarity: Similarity, a: Tensor, b: Tensor, counts: Tensor, *, memory_budget: int | None = None
) -> Tensor:
    """Every enrolment against every item: (n, d), (m, d) -> (n, m), with ``counts`` (n,) as above."""
    scorer, first, second = prepared_enrolments(similarity, a, b, counts)
    return score_all(scorer, first, second, memory_budget=memory_budget).to(a.dtype)


def score_all(similarity: Similarity, a: Tensor, b: Tensor, *, memory_budget: int | None = None) -> Tensor:
    """The matrix of all scores (n, m), filled block by block."""
    scores: Tensor | None = None
    for rows, columns, block in blocks(similarity, a, b, memory_budget=memory_budget):
        if scores is None:
            scores = torch.empty(len(a), len(b), dtype=block.dtype, device=block.device)
        scores[rows, columns] = block
    return torch.empty(len(a), len(b), dtype=a.dtype, device=a.device) if scores is None else scores
