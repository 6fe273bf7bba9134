"""A learned similarity as a kernel: made symmetric, and without negative eigenvalues where that is needed.

A similarity learned from pairs is neither symmetric nor positive semidefinite. The larger, or the mean, of
the two orders is symmetric; the spectrum is then clipped or shifted (Chen et al., "Similarity-based
Classification: Concepts and Algorithms", JMLR 2009). The kernel itself is the future work of Monteiro et al.,
"Learning Semantic Similarities for Prototypical Classifiers", 2021.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError, SpaceError, nearest
from samekind.inference.embed import asking, device_of
from samekind.similarities import Similarity, blocks
from samekind.space import MetricSpace

Symmetrise = Literal["max", "mean"]
Spectrum = Literal["clip", "shift"]

STRIP = 1024  # items


class SemidefiniteKernel(NamedTuple):
    """A kernel without negative eigenvalues, and how the same is done to other items against these."""

    values: Tensor  # (n, n)
    projection: Tensor | None  # (n, n)

    def carry_over(self, across: Tensor) -> Tensor:
        """Values of other items against these, (m, n), as they would be in this kernel."""
        return across if self.projection is None else across @ self.projection


def kernel_blocks(
    space: MetricSpace,
    z: Tensor,
    *,
    kind: Kind = "similarity",
    symmetrise: Symmetrise = "max",
    memory_budget: int | None = None,
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield (rows, columns, values) until every two items have met, both ways round, in bounded memory.

    A similarity whose order does not matter is asked once for each two items, any other one twice.
    """
    if symmetrise not in ("max", "mean"):
        raise SettingError(f'a kernel is made symmetric by "max" or "mean"; got "{symmetrise}"')
    z, scorer = z.to(device_of(space)), space.scorer(kind)
    for top in range(0, len(z), STRIP):
        for start, stop in ((top, top + STRIP), (top + STRIP, len(z))):
            one, other = z[top : top + STRIP], z[start:stop]
            walk = blocks(scorer, one, other, memory_budget=memory_budget)
            while True:
                # Not held while a block is out: whoever walks keeps their own modes and gradients.
                with asking(space):
                    block = next(walk, None)
                    if block is None:
                        break
                    rows, columns, scores = block
                    values = _both_orders(scorer, one[rows], other[columns], scores, symmetrise)
                across, down = _moved(rows, top), _moved(columns, start)
                yield across, down, values
                if start != top:  # the strip against itself has both orders already
                    yield down, across, values.T


def kernel_matrix(
    space: MetricSpace,
    a: Tensor,
    b: Tensor | None = None,
    *,
    kind: Kind = "similarity",
    symmetrise: Symmetrise = "max",
    memory_budget: int | None = None,
) -> Tensor:
    """The symmetric kernel (n, n) of items (n, d), or (n, m) against others (m, d), in float64 on the CPU.

    The result is held whole, 8 bytes a pair; the work to fill it stays within the budget.
    """
    if b is None:
        values = torch.empty(len(a), len(a), dtype=torch.float64)
        walk = kernel_blocks(space, a, kind=kind, symmetrise=symmetrise, memory_budget=memory_budget)
        for rows, columns, block in walk:
            values[rows, columns] = block.double().cpu()
        # A strip against itself was asked in both orders, which may differ by a rounding.
        return (values + values.T) / 2
    if symmetrise not in ("max", "mean"):
        raise SettingError(f'a kernel is made symmetric by "max" or "mean"; got "{symmetrise}"')
    a, b, scorer = a.to(device_of(space)), b.to(device_of(space)), space.scorer(kind)
    values = torch.empty(len(a), len(b), dtype=torch.float64)
    with asking(space):
        for rows, columns, block in blocks(scorer, a, b, memory_budget=memory_budget):
            found = _both_orders(scorer, a[rows], b[columns], block, symmetrise)
            values[rows, columns] = found.double().cpu()
    return values


def semidefinite(kernel: Tensor, how: Spectrum = "clip") -> SemidefiniteKernel:
    """A symmetric kernel (n, n) without its negative eigenvalues: set to 0, or all lifted by the lowest.

    ``"clip"`` gives the nearest semidefinite kernel, and other items are projected onto the directions that
    are left. ``"shift"`` adds to the likeness of each item with itself alone, so nothing else changes. A
    kernel that is semidefinite already stays as it is. Takes n³ time.
    """
    if how not in ("clip", "shift"):
        raise SettingError(f'the spectrum is met by "clip" or "shift"; {nearest(how, ("clip", "shift"))}')
    if not kernel.isfinite().all():
        raise SpaceError("a score is not finite; look at the items it came from, and at the space")
    values, vectors = torch.linalg.eigh(kernel.double())
    if how == "shift":
        lift = max(0.0, -float(values[0])) if len(values) else 0.0
        return SemidefiniteKernel(kernel.double() + lift * torch.eye(len(kernel), dtype=torch.float64), None)
    kept = vectors[:, values > 0]
    clipped = (kept * values[values > 0]) @ kept.T
    return SemidefiniteKernel((clipped + clipped.T) / 2, kept @ kept.T)


def _both_orders(scorer: Similarity, a: Tensor, b: Tensor, block: Tensor, symmetrise: str) -> Tensor:
    if scorer.symmetric:
        return block
    back = scorer.score_all(b, a).T
    return torch.maximum(block, back) if symmetrise == "max" else (block + back) / 2


def _moved(part: slice, by: int) -> slice:
    return slice(part.start + by, part.stop + by)
