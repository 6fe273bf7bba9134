"""All pairs of a set as verification trials: stored, walked block by block, or only counted."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.inference.embed import asked_blocks, asking, device_of, shifted
from samekind.inference.kernel_counts import KernelCounter, kernel_for
from samekind.measures import StreamedRates, streamed
from samekind.measures.streaming import Exactness, counted_rates
from samekind.similarities.blocks import blocks, prepared
from samekind.space import MetricSpace

STRIP = 256  # items

#: The precision of scores: that of the space, or 16 bits by the kernel of a learned similarity.
ScorePrecision = Literal["as it is", "bfloat16", "float16"]


class Trials(NamedTuple):
    """Pairs of items: their scores, whether each pair is of one class, and the classes of the two sides."""

    scores: Tensor  # (trials,) float32
    same: Tensor  # (trials,) bool
    first: Tensor  # (trials,) int32, the class of the earlier item
    second: Tensor  # (trials,) int32, the class of the later item


def all_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    groups: Tensor | None = None,
    kind: Kind | None = None,
    memory_budget: int | None = None,
) -> Trials:
    """Every unordered pair of a set once, the earlier item first: (n, d), (n,) -> n (n - 1) / 2 trials.

    They are on the CPU, 13 bytes each, in no promised order. With ``groups`` (n,), whole numbers, pairs of
    one group are left out: near-copies say little about other items.
    """
    kind = kind or space.kind_for("pairs")
    count = _pairs_of(len(z)) - (0 if groups is None else pairs_within(groups))
    # Allocated beforehand: a list of blocks joined at the end would take twice the memory.
    trials = Trials(
        torch.empty(count),
        torch.empty(count, dtype=torch.bool),
        torch.empty(count, dtype=torch.int32),
        torch.empty(count, dtype=torch.int32),
    )
    start = 0
    for block in walk_trials(space, z, labels, groups=groups, kind=kind, memory_budget=memory_budget):
        end = start + len(block.scores)
        for column, values in zip(trials, block, strict=True):
            column[start:end] = values
        start = end
    return trials


def ordered_trials(
    space: MetricSpace, z: Tensor, labels: Tensor, *, groups: Tensor | None = None, kind: Kind | None = None
) -> Trials:
    """The same row by row, in one order for every space and kind of score. All scores are held at once."""
    kind = kind or space.kind_for("pairs")
    z, labels = z.to(device_of(space)), labels.cpu().int()
    with asking(space):
        scores = space.score_all(z, z, kind=kind).float().cpu()
    first, second = torch.triu_indices(len(z), len(z), offset=1)
    if groups is not None:
        of_two = groups.cpu()[first] != groups.cpu()[second]
        first, second = first[of_two], second[of_two]
    sides = labels[first], labels[second]
    return Trials(scores[first, second], sides[0] == sides[1], *sides)


def walk_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    groups: Tensor | None = None,
    kind: Kind | None = None,
    memory_budget: int | None = None,
) -> Iterator[Trials]:
    """The same trials block by block, on the space's device. Another walk gives the same blocks."""
    kind = kind or space.kind_for("pairs")
    labels = labels.to(device_of(space), torch.int32)
    groups = None if groups is None else groups.to(labels.device)
    for rows, columns, scores in _walk(space, z, kind=kind, memory_budget=memory_budget):
        pairs = _pairs(rows, columns, scores.device)
        first, second = labels[rows, None].expand_as(scores), labels[columns].expand_as(scores)
        chosen = _of_two(groups, rows, columns, pairs)
        scores, first, second = (_taken(matrix, pairs, chosen) for matrix in (scores, first, second))
        yield Trials(scores, first == second, first, second)


def streamed_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    groups: Tensor | None = None,
    kind: Kind | None = None,
    exact: Exactness = True,
    threshold: float | None = None,
    memory_budget: int | None = None,
    precision: ScorePrecision = "as it is",
) -> StreamedRates:
    """The measures of all trials, which are scored again on every walk and never stored: see `streamed`.

    50,000 items are 1.25 billion trials, 16 GB if they were stored. ``memory_budget`` (in bytes) is for the
    scores of a block, and as much again for the counts. A ``precision`` of 16 bits lets the kernel of a
    learned similarity score and count on a GPU, several times faster; the measures are exactly those of its
    scores. The kernel counts all pairs and takes no ``groups``.
    """
    kind = kind or space.kind_for("pairs")
    device = device_of(space)
    z, labels = z.to(device), labels.to(device)
    groups = None if groups is None else groups.to(device)
    if precision != "as it is":
        if groups is not None:
            raise SettingError(f"precision {precision} counts pairs of one group too; leave out groups or it")
        counter = KernelCounter(kernel_for(space, kind=kind, precision=precision), z, labels)
        return counted_rates(counter, exact=exact, threshold=threshold, memory_budget=memory_budget)

    def passes() -> Iterator[tuple[Tensor, Tensor]]:
        for rows, columns, scores in _walk(space, z, kind=kind, memory_budget=memory_budget):
            same = labels[rows, None] == labels[columns]
            pairs = _pairs(rows, columns, device)
            chosen = _of_two(groups, rows, columns, pairs)
            yield _taken(scores, pairs, chosen), _taken(same, pairs, chosen)

    return streamed(passes, exact=exact, threshold=threshold, memory_budget=memory_budget)


def _walk(
    space: MetricSpace, z: Tensor, *, kind: Kind, memory_budget: int | None
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Blocks of float32 scores and the items of their rows and columns; some hold pairs in both orders."""
    z = z.to(device_of(space))
    with asking(space):
        # Once for all strips: a fitted similarity maps embeddings first.
        scorer, first, second = prepared(space.scorer(kind), z, z)
    for top in range(0, len(z), STRIP):
        bottom = min(top + STRIP, len(z))
        # A strip of items against itself and against those after it: few pairs are scored in both orders.
        for left, others in ((top, second[top:bottom]), (bottom, second[bottom:])):
            walk = blocks(scorer, first[top:bottom], others, memory_budget=memory_budget)
            for rows, columns, scores in asked_blocks(space, walk):
                yield shifted(rows, top), shifted(columns, left), scores.float()


def _pairs(rows: slice, columns: slice, device: torch.device) -> tuple[Tensor, Tensor] | None:
    """The places in a block at which the row's item is before the column's; None if that is everywhere."""
    if rows.stop <= columns.start:
        return None
    # From the sizes alone: a mask would make a GPU wait.
    height, width = rows.stop - rows.start, columns.stop - columns.start
    first, second = torch.triu_indices(height, width, 1 + rows.start - columns.start, device=device)
    return first, second


def _of_two(
    groups: Tensor | None, rows: slice, columns: slice, pairs: tuple[Tensor, Tensor] | None
) -> Tensor | None:
    """Which trials of a block are of two groups; None without groups."""
    if groups is None:
        return None
    apart = groups[rows, None] != groups[columns]
    return apart.flatten() if pairs is None else apart[pairs]


def _taken(matrix: Tensor, pairs: tuple[Tensor, Tensor] | None, chosen: Tensor | None) -> Tensor:
    """The entries of a block that are trials, as a vector."""
    values = matrix.flatten() if pairs is None else matrix[pairs]
    return values if chosen is None else values[chosen]


def _pairs_of(count: int) -> int:
    return count * (count - 1) // 2


def pairs_within(groups: Tensor) -> int:
    """How many pairs are of one group, or of one class."""
    return sum(map(_pairs_of, torch.unique(groups, return_counts=True)[1].tolist()))
