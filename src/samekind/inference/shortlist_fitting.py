"""How long a shortlist has to be, measured on a sample of the stored vectors."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.index import Index
from samekind.index.mapped import similarity_fingerprint
from samekind.inference.distil import QueryMap, distil
from samekind.inference.embed import asking, device_of
from samekind.inference.shortlist import Shortlist, is_own, keep_shortlist, mapped
from samekind.measures import Interval, proportion_interval, student_interval
from samekind.similarities import Similarity
from samekind.space import MetricSpace

#: An index of up to this size is compared as a whole, which takes milliseconds.
SMALL = 1_000
#: The longest list: with the query itself, what every server returns at once. It has at most a quarter of the
#: index, too.
MOST_CANDIDATES = 16_383
SAMPLE = 200
#: How many vectors a map of the query is fitted to, in an index of up to LARGE vectors and in a larger one.
#: None of them is among the queries of the measurement.
POOL, LARGE, LARGE_POOL = 4_000, 50_000, 8_000
#: Queries that are compared with everything at a time.
STRIP = 25
#: Why everything is compared: the index is small, the recall is 1, it has too few vectors to promise the
#: recall, or no list that is short enough reaches it.
Why = Literal["small", "all wanted", "too few queries", "too long"]


def fit_shortlist(
    space: MetricSpace,
    index: Index,
    *,
    kind: Kind | None = None,
    recall: float = 0.95,
    k: int = 10,
    sample: int | None = None,
    distilled: bool = True,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> Shortlist:
    """Find the shortest list whose recall of the ``k`` best by the similarity is at least ``recall``, and
    note it in the index (``save`` writes it).

    A ``sample`` of the stored vectors are the queries; no query finds itself. Each is compared with
    everything once for the truth, which costs sample times n pairs. The lower end of the recall's 95 %
    interval must reach ``recall``; a ``sample`` of None takes 200 queries, or as many as that needs. With
    ``distilled`` a map of the query is fitted to other vectors (`distil`), and kept if it makes the list
    shorter. ``advance`` is called with the number of queries that were compared. Everything is compared if
    the recall is 1, the index is small, or no list of up to a quarter of it suffices.
    """
    kind = kind or space.kind_for("neighbours")
    _check(recall, k, sample)
    names = list(index)
    needed = sample_for(recall)
    drawn = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    queries = [names[row] for row in drawn[: sample or needed]]
    pool = LARGE_POOL if len(names) > LARGE else POOL
    others = [names[row] for row in drawn[len(queries) : len(queries) + pool]]
    fitted = Shortlist(
        kind=kind,
        size=None,
        k=k,
        recall=1.0,
        interval=(1.0, 1.0),
        wanted=recall,
        sample=max(1, len(queries)),
        count=max(1, len(names)),
        similarity=similarity_fingerprint(space, kind),
        distilled=distilled,
        seed=seed,
    )
    if _needless(fitted) is None:
        with asking(space):
            fitted = _fitted(space, index, fitted, queries, others if distilled else [], advance)
    keep_shortlist(index, fitted)
    return fitted


def sample_for(recall: float) -> int:
    """How many queries are needed to promise a recall: if none misses anything, the interval lies above it.

    >>> sample_for(0.95), sample_for(0.99)
    (200, 368)
    """
    return SAMPLE if recall >= 1 else max(SAMPLE, math.ceil(math.log(0.025) / math.log(recall)))


def why_everything(shortlist: Shortlist) -> Why | None:
    """Why everything is compared; None if there is a list."""
    if shortlist.size is not None:
        return None
    return _needless(shortlist) or "too long"


def small_up_to(k: int) -> int:
    """The size up to which an index needs no list."""
    return max(SMALL, 8 * k)


def longest(count: int) -> int:
    """The longest list for an index of this size."""
    return min(count // 4, MOST_CANDIDATES)


def most_promised(sample: int) -> float:
    """The highest recall that so many queries can promise, if none of them misses anything."""
    return proportion_interval(sample, sample).low


def _needless(shortlist: Shortlist) -> Why | None:
    """Why no list is measured; None if one is."""
    if shortlist.count <= small_up_to(shortlist.k):
        return "small"
    if shortlist.wanted >= 1:
        return "all wanted"
    return "too few queries" if most_promised(shortlist.sample) < shortlist.wanted else None


def _check(recall: float, k: int, sample: int | None) -> None:
    if not 0 < recall <= 1:
        raise SettingError(f"the recall of a shortlist is above 0 and at most 1, got {recall}")
    if k < 1:
        raise SettingError(f"the recall of the {k} nearest cannot be measured; ask for 1 or more")
    if sample is None or recall == 1:
        return
    needed = math.ceil(math.log(0.025) / math.log(recall))
    if sample < max(2, needed):
        raise SettingError(
            f"{sample} queries cannot promise a recall of {recall}, however well they do: "
            f"take a sample of {max(2, needed)} or more"
        )


class _Task(NamedTuple):
    """The data that a shortlist is measured with."""

    gallery: Index
    queries: Tensor  # (q, d)
    ids: Sequence[str]  # of the queries themselves
    truth: Sequence[Sequence[str]]  # the k best of each
    k: int
    recall: float  # to be reached


class _Measured(NamedTuple):
    size: int
    recall: Interval


def _fitted(
    space: MetricSpace,
    index: Index,
    unfitted: Shortlist,
    ids: Sequence[str],
    others: Sequence[str],
    advance: Callable[[int], None] | None,
) -> Shortlist:
    """The shorter of the lists with a map and without; ``unfitted`` if neither is short enough."""
    scorer, device, k = space.scorer(unfitted.kind), device_of(space), unfitted.k
    queries = index.vectors(ids).to(device)
    truth = _truth(index, scorer, queries, ids, k, advance)
    task = _Task(index, queries, ids, truth, k, unfitted.wanted)
    plain, query_map = _measured(task, None), None
    best = plain
    # A list of hardly more than k leaves a map nothing to gain.
    worth_a_map = not is_own(scorer, index) and (plain is None or plain.size > 2 * k)
    if worth_a_map and len(others) > 10 * k:
        near = _Nearby(index, others)
        sample = index.vectors(others).to(device)
        candidate = distil(scorer, sample, near=near, score=index.score, top=k, seed=unfitted.seed)
        with_map = _measured(task, candidate)
        if with_map is not None and (plain is None or with_map.size < plain.size):
            best, query_map = with_map, candidate
    if best is None:
        return unfitted
    return replace(
        unfitted,
        size=best.size,
        recall=best.recall.mean,
        interval=(best.recall.low, best.recall.high),
        plain_size=plain.size if plain is not None else None,
        query_map=query_map,
    )


class _Nearby:
    """The nearest vectors of stored vectors in an index, without these and without those of earlier calls."""

    def __init__(self, index: Index, ids: Sequence[str]) -> None:
        self._index = index
        self._seen = [{id} for id in ids]

    def __call__(self, points: Tensor, count: int) -> Tensor:
        """Vectors (n, count, d) for points (n, d), which belong to the ids."""
        fresh: list[str] = []
        rows = self._index.search(points, count + max(map(len, self._seen))).ids
        for seen, row in zip(self._seen, rows, strict=True):
            new = [id for id in row if id not in seen][:count]
            fresh += new
            seen.update(new)
        return self._index.vectors(fresh).reshape(len(points), count, -1)


def _truth(
    index: Index,
    scorer: Similarity,
    queries: Tensor,
    ids: Sequence[str],
    k: int,
    advance: Callable[[int], None] | None,
) -> list[list[str]]:
    """The k best of everything for each query, without the query itself."""
    truth: list[list[str]] = []
    for top in range(0, len(queries), STRIP):
        part = queries[top : top + STRIP]
        rows = index.search(part, k + 1, scorer=scorer).ids
        truth += _without(rows, ids[top : top + STRIP], k)
        if advance is not None:
            advance(len(part))
    return truth


def _without(rows: Sequence[Sequence[str]], queries: Sequence[str], size: int) -> list[list[str]]:
    """The first so many ids of each row, without the query itself."""
    return [[id for id in row if id != query][:size] for row, query in zip(rows, queries, strict=True)]


def _measured(task: _Task, query_map: QueryMap | None) -> _Measured | None:
    """The smallest size that reaches the recall, if one is short enough."""
    points = mapped(query_map, task.queries)
    limit = longest(len(task.gallery))
    width = min(limit, 16 * task.k)
    while (size := _smallest(_ranks(task, points, width), task.recall, width)) is None:
        if width >= limit:
            return None
        width = min(4 * width, limit)
    # An approximate index may give other vectors for a smaller size: measured again with the size itself.
    while size <= limit:
        recall = _recall(_ranks(task, points, size), size)
        if recall.low >= task.recall:
            return _Measured(size, recall)
        size = math.ceil(1.2 * size)
    return None


def _ranks(task: _Task, points: Tensor, size: int) -> Tensor:
    """The place (q, k) of each of the k best in a list of ``size`` candidates; ``size`` for a missing one."""
    ranks = torch.full((len(points), task.k), size)
    strip = max(1, 2**20 // size)
    for top in range(0, len(points), strip):
        rows = task.gallery.search(points[top : top + strip], size + 1).ids
        for row, listed in enumerate(_without(rows, task.ids[top : top + strip], size), start=top):
            place = {id: number for number, id in enumerate(listed)}
            ranks[row] = torch.tensor([place.get(id, size) for id in task.truth[row]])
    return ranks


def _smallest(ranks: Tensor, recall: float, width: int) -> int | None:
    """The smallest size up to a width that reaches the recall."""
    sizes = (torch.unique(ranks[ranks < width]) + 1).tolist()
    place = bisect_left(sizes, recall, key=lambda size: _recall(ranks, size).low)
    return max(sizes[place], ranks.shape[1]) if place < len(sizes) else None


def _recall(ranks: Tensor, size: int) -> Interval:
    """The share of the k best among the first ``size``, over queries.

    A sample without a miss has no spread, yet does not prove that there are none: the lower end is at most
    what so many queries without a miss can promise.
    """
    shares = (ranks < size).double().mean(1)
    mean, low, high = student_interval(shares)
    return Interval(mean, max(0.0, min(low, most_promised(len(shares)))), min(1.0, high))
