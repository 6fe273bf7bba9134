"""A learned similarity as a kernel: made symmetric, and if needed positive semidefinite.

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
from samekind.errors import SettingError, nearest
from samekind.inference.embed import asked_blocks, asking, device_of, expect_finite, shifted
from samekind.similarities import Similarity, blocks
from samekind.similarities.blocks import prepared
from samekind.space import MetricSpace

Symmetrise = Literal["max", "mean"]
Spectrum = Literal["clip", "shift"]

STRIP = 1024  # items


class SemidefiniteKernel(NamedTuple):
    """A kernel without negative eigenvalues, and the projection of other items that goes with it."""

    values: Tensor  # (n, n)
    projection: Tensor | None  # (n, n)

    def carry_over(self, across: Tensor) -> Tensor:
        """The kernel's values of other items against these: (m, n) -> (m, n)."""
        return across if self.projection is None else across @ self.projection


def kernel_blocks(
    space: MetricSpace, z: Tensor, *, kind: Kind = "similarity", symmetrise: Symmetrise = "max"
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield (rows, columns, values) for all pairs of items, in both orders, in bounded memory.

    A symmetric similarity is computed once for each pair, any other twice.
    """
    z, scorer = z.to(device_of(space)), space.scorer(kind)
    first, second = z, z
    if scorer.symmetric:  # once for all strips: a fitted similarity maps embeddings first
        with asking(space):
            scorer, first, second = prepared(scorer, z, z)
    for top in range(0, len(z), STRIP):
        strip = first[top : top + STRIP]
        for start, others in ((top, second[top : top + STRIP]), (top + STRIP, second[top + STRIP :])):
            walk = _symmetric_blocks(scorer, strip, others, symmetrise)
            for rows, columns, values in asked_blocks(space, walk):
                across, down = shifted(rows, top), shifted(columns, start)
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
) -> Tensor:
    """The symmetric kernel (n, n) of items (n, d), or (n, m) against others (m, d), in float64 on the CPU.

    The result is held whole, 8 bytes a pair; the work to fill it stays within the budget.
    """
    if b is None:
        values = torch.empty(len(a), len(a), dtype=torch.float64)
        walk = kernel_blocks(space, a, kind=kind, symmetrise=symmetrise)
        for rows, columns, block in walk:
            values[rows, columns] = block.double().cpu()
        # A strip against itself was scored in both orders, which may differ by rounding.
        return (values + values.T) / 2
    a, b = a.to(device_of(space)), b.to(device_of(space))
    values = torch.empty(len(a), len(b), dtype=torch.float64)
    with asking(space):
        for rows, columns, block in _symmetric_blocks(space.scorer(kind), a, b, symmetrise):
            values[rows, columns] = block.double().cpu()
    return values


def semidefinite(kernel: Tensor, how: Spectrum = "clip") -> SemidefiniteKernel:
    """A symmetric kernel (n, n) without negative eigenvalues: set to 0, or all raised by the lowest.

    ``"clip"`` gives the nearest semidefinite kernel; other items are projected onto the directions that are
    left. ``"shift"`` changes the diagonal alone. A semidefinite kernel stays as it is. Takes n³ time.
    """
    if how not in ("clip", "shift"):
        raise SettingError(
            f'the spectrum is made positive by "clip" or "shift"; {nearest(how, ("clip", "shift"))}'
        )
    expect_finite(kernel)
    values, vectors = torch.linalg.eigh(kernel.double())
    if how == "shift":
        lift = max(0.0, -float(values[0])) if len(values) else 0.0
        return SemidefiniteKernel(kernel.double() + lift * torch.eye(len(kernel), dtype=torch.float64), None)
    positive = vectors[:, values > 0]
    clipped = (positive * values[values > 0]) @ positive.T
    return SemidefiniteKernel((clipped + clipped.T) / 2, positive @ positive.T)


def _symmetric_blocks(
    scorer: Similarity, a: Tensor, b: Tensor, symmetrise: str
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Blocks of scores in which both orders of a pair have one value."""
    if symmetrise not in ("max", "mean"):
        raise SettingError(f'a kernel is made symmetric by "max" or "mean"; got "{symmetrise}"')
    for rows, columns, scores in blocks(scorer, a, b):
        if scorer.symmetric:
            yield rows, columns, scores
            continue
        reverse = scorer.score_all(b[columns], a[rows]).T
        yield rows, columns, torch.maximum(scores, reverse) if symmetrise == "max" else (scores + reverse) / 2
