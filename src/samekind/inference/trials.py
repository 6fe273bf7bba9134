"""All pairs of a set as verification trials: kept, walked block by block, or only counted."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.inference.embed import asking, device_of
from samekind.inference.kernel_counts import KernelCounter, kernel_for
from samekind.measures import StreamedRates, streamed
from samekind.measures.streaming import Exactness, counted_rates
from samekind.space import MetricSpace

STRIP = 256  # items

#: What scores are computed in: as the space is, or in 16 bits by the kernel of a learned similarity.
Precision = Literal["as it is", "bfloat16", "float16"]


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
    kind: Kind = "similarity",
    memory_budget: int | None = None,
) -> Trials:
    """Every unordered pair of a set once, the earlier item first: (n, d), (n,) -> n (n - 1) / 2 trials.

    They are on the CPU, 13 bytes each, in no promised order. With ``groups`` (n,), whole numbers, pairs of
    one group are left out: that near-copies are found to be of one class says little about other items.
    """
    # Taken beforehand and filled: as a list of blocks put together at the end they would take twice as much,
    # and far more where small blocks are kept between large ones that are not.
    trials = _room_for(_pairs_of(len(z)) - (0 if groups is None else pairs_within(groups)))
    start = 0
    for block in walk_trials(space, z, labels, groups=groups, kind=kind, memory_budget=memory_budget):
        end = start + len(block.scores)
        for kept, found in zip(trials, block, strict=True):
            kept[start:end] = found
        start = end
    return trials


def ordered_trials(
    space: MetricSpace, z: Tensor, labels: Tensor, *, groups: Tensor | None = None, kind: Kind = "similarity"
) -> Trials:
    """The same row by row: in one order for every space and every kind of score, which walking in blocks is
    not. All scores of the set are held at once.
    """
    z, labels = z.to(device_of(space)), labels.cpu().int()
    with asking(space):
        scores = space.score_all(z, z, kind=kind).float().cpu()
    first, second = torch.triu_indices(len(z), len(z), offset=1)
    if groups is not None:
        kept = groups.cpu()[first] != groups.cpu()[second]
        first, second = first[kept], second[kept]
    sides = labels[first], labels[second]
    return Trials(scores[first, second], sides[0] == sides[1], *sides)


def walk_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    groups: Tensor | None = None,
    kind: Kind = "similarity",
    memory_budget: int | None = None,
) -> Iterator[Trials]:
    """The same trials block by block, on the space's device; none of them is kept.

    Several walks over the same embeddings give the same blocks.
    """
    labels = labels.to(device_of(space), torch.int32)
    groups = None if groups is None else groups.to(labels.device)
    for rows, columns, scores in _walk(space, z, kind=kind, memory_budget=memory_budget):
        pairs = _pairs(rows, columns, scores.device)
        first, second = labels[rows, None].expand_as(scores), labels[columns].expand_as(scores)
        scores, first, second = (
            each.flatten() if pairs is None else each[pairs] for each in (scores, first, second)
        )
        if (kept := _of_two(groups, rows, columns, pairs)) is not None:
            scores, first, second = scores[kept], first[kept], second[kept]
        yield Trials(scores, first == second, first, second)


def streamed_trials(
    space: MetricSpace,
    z: Tensor,
    labels: Tensor,
    *,
    groups: Tensor | None = None,
    kind: Kind = "similarity",
    exact: Exactness = True,
    threshold: float | None = None,
    memory_budget: int | None = None,
    precision: Precision = "as it is",
) -> StreamedRates:
    """The measures of all trials, which are scored again on every walk and never stored: see `streamed`.

    50,000 items are 1.25 billion trials: 16 GB to keep, and nothing to count. ``memory_budget`` (in bytes)
    goes to the scores of a block and to the counts, to each of them. A ``precision`` of 16 bits has the
    kernel of a learned similarity score and count on a GPU, several times faster; the measures are then
    exactly those of the scores it gives. It counts all pairs: ``groups`` are for the others.
    """
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
            found = (scores.flatten(), same.flatten()) if pairs is None else (scores[pairs], same[pairs])
            kept = _of_two(groups, rows, columns, pairs)
            yield found if kept is None else (found[0][kept], found[1][kept])

    return streamed(passes, exact=exact, threshold=threshold, memory_budget=memory_budget)


def _walk(
    space: MetricSpace, z: Tensor, *, kind: Kind, memory_budget: int | None
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Blocks of float32 scores and the items of their rows and columns; some hold pairs in both orders."""
    z = z.to(device_of(space))
    for top in range(0, len(z), STRIP):
        bottom = min(top + STRIP, len(z))
        # A strip of items against itself and against those after it: nearly nothing is scored in both orders.
        for left, others in ((top, z[top:bottom]), (bottom, z[bottom:])):
            blocks = space.blocks(z[top:bottom], others, kind=kind, memory_budget=memory_budget)
            while True:
                # Not held while a block is out: whoever walks keeps their own modes and gradients.
                with asking(space):
                    block = next(blocks, None)
                if block is None:
                    break
                rows, columns, scores = block
                yield _moved(rows, top), _moved(columns, left), scores.float()


def _moved(positions: slice, by: int) -> slice:
    return slice(positions.start + by, positions.stop + by)


def _pairs(rows: slice, columns: slice, device: torch.device) -> tuple[Tensor, Tensor] | None:
    """The places in a block at which the row's item is before the column's; None where it is everywhere."""
    if rows.stop <= columns.start:
        return None
    # Made from the sizes alone: a mask would have to be counted before it can be used.
    height, width = rows.stop - rows.start, columns.stop - columns.start
    first, second = torch.triu_indices(height, width, 1 + rows.start - columns.start, device=device)
    return first, second


def _of_two(
    groups: Tensor | None,
    rows: slice,
    columns: slice,
    pairs: tuple[Tensor, Tensor] | None,
) -> Tensor | None:
    """Which trials of a block are of two groups; None where there are no groups."""
    if groups is None:
        return None
    apart = groups[rows, None] != groups[columns]
    return apart.flatten() if pairs is None else apart[pairs]


def _pairs_of(count: int) -> int:
    return count * (count - 1) // 2


def pairs_within(groups: Tensor) -> int:
    """How many pairs are of one group, or of one class."""
    return sum(map(_pairs_of, torch.unique(groups, return_counts=True)[1].tolist()))


def _room_for(count: int) -> Trials:
    return Trials(
        torch.empty(count),
        torch.empty(count, dtype=torch.bool),
        torch.empty(count, dtype=torch.int32),
        torch.empty(count, dtype=torch.int32),
    )
