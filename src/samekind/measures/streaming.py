"""Verification over more trials than memory holds: counted, never stored.

The bits of a float32, read as a whole number, are in the order of the floats. The first walk over the trials
counts them by the upper 18 bits, for any range and distribution. That bounds the equal error rate and the
area under the curve. Further walks count the lower 14 bits within the bins that matter, as many at a time as
fit the memory, which makes both exact: the numbers of `equal_error_rate` and `area_under_curve`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from samekind.measures.binning import CELLS, StoredScores, count_bins, count_cells, lowest_of
from samekind.measures.crossing import Accepted, Crossing, gap
from samekind.measures.sorted_trials import doubled_wins

Passes = Callable[[], Iterator[tuple[Tensor, Tensor]]]
#: Which measures are exact: all, none, or only the equal error rate with its threshold.
Exactness = bool | Literal["equal error"]

#: Bytes for the counts by default.
MEMORY_BUDGET = {"cpu": 512 * 2**20, "other": 4 * 2**30}
#: Counted bins worked on at a time: few enough for the cache of a CPU, enough to keep a GPU busy.
AT_ONCE = {"cpu": 4, "other": 256}
#: Bins counted in one walk at most, so that places in the counts fit int32.
MOST_COUNTED = 2**15 - 1


class Counter(Protocol):
    """Walks over the trials and counts them: see `count_bins` and `count_cells`."""

    device: torch.device

    def bins(self, threshold: float | None) -> tuple[Tensor, tuple[int, int] | None]:
        """Trials of two classes and of one in each bin, (bins, 2), and the errors at a threshold."""

    def cells(
        self, counted: Sequence[int], stored: Sequence[int], store: StoredScores, *, dtype: torch.dtype
    ) -> Tensor:
        """Trials in each cell of the ``counted`` bins, (bins, 2, cells); ``stored`` bins go to ``store``."""


class StreamedRates(NamedTuple):
    """Measures of counted trials; every pair of bounds holds the exact value.

    Both bounds of an exact measure are its value. The rates at a threshold are None if none was given.
    """

    same: int
    different: int
    equal_error: float
    threshold: float
    area: float
    equal_error_bounds: tuple[float, float]
    threshold_bounds: tuple[float, float]
    area_bounds: tuple[float, float]
    false_accepts: float | None
    false_rejects: float | None
    passes: int


class _Bin(NamedTuple):
    """How many trials of each kind are in a bin."""

    place: int
    targets: int
    impostors: int


class _Group(NamedTuple):
    """The bins a walk looks into."""

    counted: list[_Bin]
    stored: list[_Bin]


def streamed(
    passes: Passes,
    *,
    exact: Exactness = True,
    threshold: float | None = None,
    memory_budget: int | None = None,
) -> StreamedRates:
    """The equal error rate, its threshold and the area under the curve of trials that are never stored.

    Each call of ``passes()`` walks the same trials again, as (scores, same) in blocks of any size and order,
    on any device. Scores are float32 or shorter; round float64 first. ``exact=True`` gives the measures of
    `equal_error_rate` and `area_under_curve`; ``passes`` is how many walks that took, fewer with a larger
    ``memory_budget`` (bytes for the counts). ``exact="equal error"`` takes two walks: the equal error rate
    and its threshold are exact, the area has bounds. ``exact=False`` takes one walk: the equal error rate is
    that of the nearest bin border, trials of one bin count as ties, and both have bounds. The rates at a
    ``threshold`` are exact after one walk.

    >>> scores, same = torch.tensor([0.9, 0.6, 0.7, 0.1]), torch.tensor([True, True, False, False])
    >>> rates = streamed(lambda: iter([(scores, same)]))
    >>> rates.equal_error, rates.area, rates.passes
    (0.5, 0.75, 2)
    """
    return counted_rates(_Walks(passes), exact=exact, threshold=threshold, memory_budget=memory_budget)


def counted_rates(
    counter: Counter,
    *,
    exact: Exactness = True,
    threshold: float | None = None,
    memory_budget: int | None = None,
) -> StreamedRates:
    """The result of `streamed` for trials counted by ``counter``."""
    counts, errors = counter.bins(threshold)
    # Bins with trials, the highest scores first.
    places = counts.sum(1).nonzero().flatten().flip(0)
    bins = [
        _Bin(place, targets, impostors)
        for place, (impostors, targets) in zip(places.tolist(), counts[places].tolist(), strict=True)
    ]
    targets, impostors = sum(bin.targets for bin in bins), sum(bin.impostors for bin in bins)
    if targets == 0 or impostors == 0:
        numbers = f"{targets} same and {impostors} different"
        raise ValueError(f"expected trials of both kinds, got {numbers}")
    bound = _bounded(bins, targets, impostors, errors)
    if exact is False:
        return bound
    del counts
    if memory_budget is None:
        memory_budget = MEMORY_BUDGET.get(counter.device.type, MEMORY_BUDGET["other"])
    return _refined(counter, bins, bound, memory_budget, with_area=exact is True)


class _Walks:
    """Counts trials block by block."""

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.device = torch.device("cpu")

    def bins(self, threshold: float | None) -> tuple[Tensor, tuple[int, int] | None]:
        counts, errors = count_bins(self.passes(), threshold)
        self.device = counts.device  # where the scores are
        return counts, errors

    def cells(
        self, counted: Sequence[int], stored: Sequence[int], store: StoredScores, *, dtype: torch.dtype
    ) -> Tensor:
        return count_cells(self.passes(), counted, stored, store, dtype=dtype, device=self.device)


def _bounded(
    bins: Sequence[_Bin], targets: int, impostors: int, errors: tuple[int, int] | None
) -> StreamedRates:
    """The bounds after one walk."""
    middle, strict, lenient = _crossing_bin(bins, targets, impostors)
    crossing = Crossing(strict, lenient, targets, impostors)
    nearest = crossing.nearest()
    accepts, rejects = zip(crossing.rates(strict), crossing.rates(lenient), strict=True)
    highest = bins[max(middle - 1, 0)].place
    ties = sum(bin.targets * bin.impostors for bin in bins)
    doubled, total = _won_between(bins), 2 * targets * impostors
    return StreamedRates(
        same=targets,
        different=impostors,
        equal_error=nearest.rate,
        threshold=nearest.threshold,
        area=(doubled + ties) / total,
        equal_error_bounds=((accepts[0] + rejects[1]) / 2, (accepts[1] + rejects[0]) / 2),
        threshold_bounds=(lowest_of(bins[middle].place), lowest_of(highest + 1)),
        area_bounds=(doubled / total, (doubled + 2 * ties) / total),
        false_accepts=None if errors is None else errors[0] / impostors,
        false_rejects=None if errors is None else errors[1] / targets,
        passes=1,
    )


def _refined(
    counter: Counter, bins: Sequence[_Bin], bound: StreamedRates, memory_budget: int, *, with_area: bool
) -> StreamedRates:
    """The exact measures, by walks over the bins the rates cross in and those with trials of both kinds."""
    middle, border, _ = _crossing_bin(bins, bound.same, bound.different)
    around = bins[max(middle - 1, 0) : middle + 1]
    dtype = torch.int32 if bound.same + bound.different < 2**31 else torch.int64
    bin_bytes = 2 * CELLS * dtype.itemsize
    looked_at = bins if with_area else around
    groups = _groups(looked_at, around, memory_budget, bin_bytes=bin_bytes, keep=counter.device.type == "cpu")
    doubled = _won_between(bins)
    cells_of: dict[_Bin, list[list[int]]] = {}
    for group in groups:
        won, cells = _walked(counter, group, around, dtype)
        doubled += won
        cells_of |= cells
    crossing = _crossing_cell([(bin.place, cells_of[bin]) for bin in around], border, bound)
    rate, threshold = crossing.nearest()
    rates = bound._replace(
        equal_error=rate,
        threshold=threshold,
        equal_error_bounds=(rate, rate),
        threshold_bounds=(threshold, threshold),
        passes=1 + len(groups),
    )
    area = doubled / (2 * bound.same * bound.different)
    return rates._replace(area=area, area_bounds=(area, area)) if with_area else rates


def _walked(
    counter: Counter, group: _Group, around: Sequence[_Bin], dtype: torch.dtype
) -> tuple[int, dict[_Bin, list[list[int]]]]:
    """The result of one walk: twice the pairs won within its bins, and the cells of the bins around the
    crossing. The counts are freed before the next walk.
    """
    counted_places, stored_places = ([bin.place for bin in bins] for bins in group)
    store = StoredScores(sum(bin.targets for bin in group.stored), sum(bin.impostors for bin in group.stored))
    cells = counter.cells(counted_places, stored_places, store, dtype=dtype)
    won = _won_within(cells, group.counted) + doubled_wins(store.sorted()) - _won_between(group.stored)
    return won, {bin: cells[slot].tolist() for slot, bin in enumerate(group.counted) if bin in around}


def _groups(
    bins: Sequence[_Bin], first: Sequence[_Bin], memory_budget: int, *, bin_bytes: int, keep: bool
) -> list[_Group]:
    """The bins of each walk: ``first``, then all with trials of both kinds, as many as fit into memory.

    The trials of a bin are stored instead of counted if that takes less memory.
    """
    mixed = (bin for bin in bins if bin.targets and bin.impostors)
    groups: list[_Group] = []
    free = 0
    for bin in dict.fromkeys([*first, *mixed]):
        trials_bytes = 4 * (bin.targets + bin.impostors)
        is_kept = keep and trials_bytes < bin_bytes and bin not in first
        size = trials_bytes if is_kept else bin_bytes
        if not groups or size > free or len(groups[-1].counted) == MOST_COUNTED:
            groups.append(_Group([], []))
            free = memory_budget - bin_bytes  # the trials of all other bins are counted in one slot
        (groups[-1].stored if is_kept else groups[-1].counted).append(bin)
        free -= size
    return groups


def _crossing_bin(bins: Sequence[_Bin], targets: int, impostors: int) -> tuple[int, Accepted, Accepted]:
    """Which of the bins the rates cross in, and what is accepted above it and with it."""
    strict = Accepted(0.0, 0, 0)
    for number, bin in enumerate(bins):
        lenient = Accepted(
            lowest_of(bin.place), strict.targets + bin.targets, strict.impostors + bin.impostors
        )
        if gap(lenient.targets, lenient.impostors, targets, impostors) > 0:
            return number, strict._replace(threshold=lowest_of(bin.place + 1)), lenient
        strict = lenient
    raise AssertionError("accepting everything is lenient")


def _crossing_cell(
    around: Sequence[tuple[int, list[list[int]]]], border: Accepted, of: StreamedRates
) -> Crossing:
    """The two thresholds that are scores: in the bin the rates cross in, or the lowest of the one above.

    ``around`` has the cells of both bins, or of one bin if none is above it.
    """
    strict = None
    if len(around) == 2:
        place, (impostors, targets) = around[0]
        lowest = next(cell for cell in range(CELLS) if impostors[cell] or targets[cell])
        strict = border._replace(threshold=lowest_of(place, lowest))
    place, (impostors, targets) = around[-1]
    accepted = border
    for cell in range(CELLS - 1, -1, -1):
        if not impostors[cell] and not targets[cell]:
            continue
        accepted = Accepted(
            lowest_of(place, cell), accepted.targets + targets[cell], accepted.impostors + impostors[cell]
        )
        if gap(accepted.targets, accepted.impostors, of.same, of.different) > 0:
            break
        strict = accepted
    return Crossing(strict, accepted, of.same, of.different)


def _won_between(bins: Sequence[_Bin]) -> int:
    """Twice the pairs of a target and an impostor in a lower bin; the bins fall."""
    won = targets = 0
    for bin in bins:
        won += bin.impostors * targets
        targets += bin.targets
    return 2 * won


def _won_within(cells: Tensor, bins: Sequence[_Bin]) -> int:
    """Twice the pairs of a target and an impostor in a lower cell of one bin, and once those in one cell."""
    doubled = 0
    at_once = AT_ONCE.get(cells.device.type, AT_ONCE["other"])
    for start in range(0, len(bins), at_once):
        chunk = cells[start : start + at_once]
        impostors, targets = chunk[:, 0].long(), chunk[:, 1].long()
        above = targets.cumsum(1).neg_().add_(targets.sum(1, keepdim=True))
        totals = torch.stack([impostors.sum(1), targets.sum(1)], dim=1).tolist()
        _check_same_trials(totals, bins[start : start + at_once])
        if max(impostor_count * target_count for impostor_count, target_count in totals) < 2**60:
            doubled += int((impostors * above.mul_(2).add_(targets)).sum())
        else:  # beyond int64; Python's numbers have no end
            rows = zip(*(counts.flatten().tolist() for counts in (impostors, above, targets)), strict=True)
            doubled += sum(impostor_count * (2 * more + ties) for impostor_count, more, ties in rows)
    return doubled


def _check_same_trials(totals: Sequence[Sequence[int]], bins: Sequence[_Bin]) -> None:
    """Raise ValueError if a later walk has other trials than the first."""
    for (impostors, targets), bin in zip(totals, bins, strict=True):
        if (impostors, targets) != (bin.impostors, bin.targets):
            expected, near = bin.impostors + bin.targets, lowest_of(bin.place)
            raise ValueError(
                f"expected the same trials on every walk, got {expected} near a score of {near:g} on the "
                f"first and {impostors + targets} on a later one; "
                "is something random or an iterator used twice?"
            )
