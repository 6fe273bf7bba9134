"""How long a shortlist has to be: measured on a sample of what is stored."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SettingError
from samekind.index import Index
from samekind.inference.distil import QueryMap, distil
from samekind.inference.embed import asking, device_of
from samekind.inference.shortlist import (
    Shortlist,
    is_own,
    keep_shortlist,
    mapped,
    similarity_fingerprint,
)
from samekind.measures import Interval, proportion_interval, student_interval
from samekind.similarities import Similarity
from samekind.space import MetricSpace

#: Up to so many vectors everything is compared: that takes milliseconds.
SMALL = 1_000
#: Candidates at most: with the query itself, what every server gives at once. Nor more than a quarter of
#: the index.
MOST_CANDIDATES = 16_383
SAMPLE = 200
#: Vectors a map of the query is fitted to, more of them where the index is large, and the gain with it; none
#: of them is measured with.
POOL, LARGE, LARGE_POOL = 4_000, 50_000, 8_000
#: Queries that are compared with everything together.
STRIP = 25
#: Why everything is compared: the index is small, all of the nearest are wanted, its vectors are too few to
#: promise so much, or no list that is short enough does it.
Why = Literal["small", "all wanted", "too few queries", "too long"]


def fit_shortlist(
    space: MetricSpace,
    index: Index,
    *,
    kind: Kind = "similarity",
    recall: float = 0.95,
    k: int = 10,
    sample: int | None = None,
    distilled: bool = True,
    seed: int = 0,
    advance: Callable[[int], None] | None = None,
) -> Shortlist:
    """Find the shortest list whose recall of the ``k`` best by the similarity is at least ``recall``, and
    note it in the index (``save`` writes it).

    A ``sample`` of the stored vectors are the queries, and none finds itself. Each is compared with
    everything once, which is the truth and the cost: sample times n pairs. The lower end of the recall's
    95 % interval has to reach the wanted recall; None takes 200 queries, or as many as it takes to promise
    so much. With ``distilled`` a map of the query is fitted to others (`distil`), and kept if its list is
    the shorter one. ``advance`` is told how many queries have been compared. A recall of 1, a small index,
    or one in which no list of up to a quarter does it, leaves comparing everything.
    """
    _check(recall, k, sample)
    names = list(index)
    needed = sample_for(recall)
    drawn = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    asked = [names[each] for each in drawn[: sample or needed]]
    pool = LARGE_POOL if len(names) > LARGE else POOL
    others = [names[each] for each in drawn[len(asked) : len(asked) + pool]]
    fitted = Shortlist(
        kind=kind,
        size=None,
        k=k,
        recall=1.0,
        interval=(1.0, 1.0),
        wanted=recall,
        sample=max(1, len(asked)),
        count=max(1, len(names)),
        similarity=similarity_fingerprint(space, kind),
        distilled=distilled,
        seed=seed,
    )
    if _needless(fitted) is None:
        with asking(space):
            fitted = _fitted(space, index, fitted, asked, others if distilled else [], advance)
    keep_shortlist(index, fitted)
    return fitted


def sample_for(recall: float) -> int:
    """How many queries can promise a recall: if none of them misses anything, the interval begins above it.

    >>> sample_for(0.95), sample_for(0.99)
    (200, 368)
    """
    return SAMPLE if recall >= 1 else max(SAMPLE, math.ceil(math.log(0.025) / math.log(recall)))


def why_everything(shortlist: Shortlist) -> Why | None:
    """Why everything is compared; None where there is a list."""
    if shortlist.size is not None:
        return None
    return _needless(shortlist) or "too long"


def small_up_to(k: int) -> int:
    """Up to how many vectors no list is looked for."""
    return max(SMALL, 8 * k)


def longest(count: int) -> int:
    """How long a list may be in an index of so many."""
    return min(count // 4, MOST_CANDIDATES)


def most_promised(sample: int) -> float:
    """The highest recall that so many queries can promise: none of them misses anything."""
    return proportion_interval(sample, sample).low


def _needless(wanted: Shortlist) -> Why | None:
    """Why no list is measured; None where one is."""
    if wanted.count <= small_up_to(wanted.k):
        return "small"
    if wanted.wanted >= 1:
        return "all wanted"
    return "too few queries" if most_promised(wanted.sample) < wanted.wanted else None


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


class _Asked(NamedTuple):
    """What a shortlist is measured with."""

    gallery: Index
    queries: Tensor  # (q, d)
    ids: Sequence[str]  # of the queries themselves
    truth: Sequence[Sequence[str]]  # the k best of each
    k: int
    wanted: float


class _Measured(NamedTuple):
    size: int
    recall: Interval


def _fitted(
    space: MetricSpace,
    index: Index,
    nothing: Shortlist,
    asked: Sequence[str],
    others: Sequence[str],
    advance: Callable[[int], None] | None,
) -> Shortlist:
    """The shorter of the two lists, with a map and without; or ``nothing``, where neither is short enough."""
    scorer, device = space.scorer(nothing.kind), device_of(space)
    queries = index.vectors(asked).to(device)
    truth = _truth(index, scorer, queries, asked, nothing.k, advance)
    about = _Asked(index, queries, asked, truth, nothing.k, nothing.wanted)
    plain, query_map = _measured(about, None), None
    best = plain
    # A list hardly longer than what is wanted leaves a map nothing to gain.
    worth_a_map = not is_own(scorer, index) and (plain is None or plain.size > 2 * nothing.k)
    if worth_a_map and len(others) > 10 * nothing.k:
        near = _Nearby(index, others)
        sample = index.vectors(others).to(device)
        made = distil(scorer, sample, near=near, score=index.score, top=nothing.k, seed=nothing.seed)
        found = _measured(about, made)
        if found is not None and (plain is None or found.size < plain.size):
            best, query_map = found, made
    if best is None:
        return nothing
    return replace(
        nothing,
        size=best.size,
        recall=best.recall.mean,
        interval=(best.recall.low, best.recall.high),
        plain_size=plain.size if plain is not None else None,
        query_map=query_map,
    )


class _Nearby:
    """What an index finds for vectors that it holds itself: neither these, nor what it gave before."""

    def __init__(self, index: Index, ids: Sequence[str]) -> None:
        self._index = index
        self._given = [{each} for each in ids]

    def __call__(self, points: Tensor, count: int) -> Tensor:
        """Vectors (n, count, d) for points (n, d), which belong to the ids."""
        fresh: list[str] = []
        found = self._index.search(points, count + max(map(len, self._given))).ids
        for given, row in zip(self._given, found, strict=True):
            fresh += (chosen := [each for each in row if each not in given][:count])
            given.update(chosen)
        return self._index.vectors(fresh).reshape(len(points), count, -1)


def _truth(
    index: Index,
    scorer: Similarity,
    queries: Tensor,
    ids: Sequence[str],
    k: int,
    advance: Callable[[int], None] | None,
) -> list[list[str]]:
    """The k best of everything for each query, but for the query itself."""
    truth: list[list[str]] = []
    for top in range(0, len(queries), STRIP):
        part = queries[top : top + STRIP]
        found = index.search(part, k + 1, scorer=scorer).ids
        truth += _without(found, ids[top : top + STRIP], k)
        if advance is not None:
            advance(len(part))
    return truth


def _without(found: Sequence[Sequence[str]], ids: Sequence[str], size: int) -> list[list[str]]:
    return [[each for each in row if each != id][:size] for row, id in zip(found, ids, strict=True)]


def _measured(about: _Asked, query_map: QueryMap | None) -> _Measured | None:
    """The smallest size that does it, if one is short enough."""
    points = mapped(query_map, about.queries)
    limit = longest(len(about.gallery))
    width = min(limit, 16 * about.k)
    while (size := _smallest(_ranks(about, points, width), about.wanted, width)) is None:
        if width >= limit:
            return None
        width = min(4 * width, limit)
    # An approximate index may give others where it is asked for fewer: measured again, with the very size.
    while size <= limit:
        recall = _recall(_ranks(about, points, size), size)
        if recall.low >= about.wanted:
            return _Measured(size, recall)
        size = math.ceil(1.2 * size)
    return None


def _ranks(about: _Asked, points: Tensor, size: int) -> Tensor:
    """The place (q, k) of each of the k best in a list of so many candidates, ``size`` if it is not there."""
    ranks = torch.full((len(points), about.k), size)
    strip = max(1, 2**20 // size)
    for top in range(0, len(points), strip):
        found = about.gallery.search(points[top : top + strip], size + 1).ids
        for row, listed in enumerate(_without(found, about.ids[top : top + strip], size)):
            place = {id: number for number, id in enumerate(listed)}
            wanted = [place.get(id, size) for id in about.truth[top + row]]
            ranks[top + row] = torch.tensor(wanted)
    return ranks


def _smallest(ranks: Tensor, wanted: float, width: int) -> int | None:
    """The smallest size up to a width whose recall suffices."""
    sizes = sorted({each + 1 for each in ranks[ranks < width].tolist()})
    low, high = 0, len(sizes)
    while low < high:
        middle = (low + high) // 2
        if _recall(ranks, sizes[middle]).low >= wanted:
            high = middle
        else:
            low = middle + 1
    return max(sizes[low], ranks.shape[1]) if low < len(sizes) else None


def _recall(ranks: Tensor, size: int) -> Interval:
    """The share of the k best among the first ``size``, over queries.

    A sample without a miss has no spread, yet does not prove that there are none: the interval never begins
    above what that many queries without a miss can tell.
    """
    shares = (ranks < size).double().mean(1)
    found = student_interval(shares)
    low = max(0.0, min(found.low, most_promised(len(shares))))
    return Interval(found.mean, low, min(1.0, found.high))
