"""Retrieval: how many of the items ranked nearest to a query are of its class, and how early they come.

``neighbours`` is (queries, ranks), the labels of each query's neighbours, nearest first, the query itself
already left out; ``labels`` is (queries,). ``relevant`` (queries,) is how many items of the gallery are of
the query's class: a list may be cut, so this cannot be read off it; `relevant_counts` counts them.
``ignored`` (queries, ranks) marks neighbours that are taken out of the ranking, those behind moving up.

A query with nothing to find is a miss in Recall@k and is left out of all other measures. `retrieval_values`
has the values of single queries, for intervals; the other functions return means. A long ranking can be
measured a few queries at a time.

MAP@R: Musgrave, Belongie and Lim, "A Metric Learning Reality Check", ECCV 2020. nDCG: Järvelin and
Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.ranking import Ranking, check_ks, ranked

#: What `retrieval_values` can compute; Recall, Precision, nDCG and those with "@k" once for each k.
RETRIEVAL_MEASURES = ("Recall", "Precision", "nDCG", "MRR@k", "MAP@k", "R-precision", "MAP@R", "MAP", "MRR")


class RetrievalMeans(NamedTuple):
    """The mean of each measure over the queries that have something to find (Recall@k: over all)."""

    means: dict[str, float]
    queries: int
    left_out: int  # of these, queries with nothing to find


def retrieval_values(
    neighbours: Tensor,
    labels: Tensor,
    *,
    relevant: Tensor,
    ks: Sequence[int] = (1, 2, 4, 8),
    measures: Sequence[str] = ("Recall", "Precision", "nDCG", "R-precision", "MAP@R"),
    ignored: Tensor | None = None,
) -> dict[str, Tensor]:
    """Each measure of each query: names such as "Recall@4" or "MAP@R" to float64 (queries,).

    * Recall@k: 1 where an item of the class is among the k nearest, else 0.
    * Precision@k: the share of the k nearest that are of the class.
    * nDCG@k: hits count 1 / log2(rank + 1); divided by what the best order would have.
    * MRR@k: one over the rank of the first hit, 0 if it is not among the k nearest.
    * MAP@k: the sum, over the hits among the k nearest, of the precision at their rank, divided by the most
      hits there could be, k or R.
    * R-precision: Precision@R, where R is how many relevant items the query has.
    * MAP@R: the sum, over the hits among the R nearest, of the precision at their rank, divided by R.
    * MAP: the mean, over all relevant items, of the precision at their rank. Only for whole rankings.
    * MRR: as MRR@k, for rankings that hold the first hit of every query that has one.

    NaN marks a query with nothing to find, except in Recall@k, where it is 0. A list too short for R or k is
    an error, never a lower value.

    >>> values = retrieval_values(
    ...     torch.tensor([[0, 1, 0]]), torch.tensor([0]), relevant=torch.tensor([2]), ks=(3,)
    ... )
    >>> {name: round(float(value), 3) for name, value in values.items()}
    {'Recall@3': 1.0, 'Precision@3': 0.667, 'nDCG@3': 0.92, 'R-precision': 0.5, 'MAP@R': 0.5}
    """
    ranking = ranked(neighbours, labels, relevant, ignored)
    unknown = [name for name in measures if name not in RETRIEVAL_MEASURES]
    if unknown:
        raise ValueError(f"expected measures among {', '.join(RETRIEVAL_MEASURES)}, got {unknown[0]}")
    by_name: dict[str, Tensor] = {}
    for name in measures:
        if name in _AT_K:
            check_ks(ranking, ks)
            by_name |= {f"{name.removesuffix('@k')}@{k}": _AT_K[name](ranking, k) for k in ks}
        else:
            by_name[name] = _WHOLE[name](ranking)
    return by_name


def retrieval_means(measured: Mapping[str, Tensor]) -> RetrievalMeans:
    """The means of `retrieval_values`, the number of queries, and how many of these have nothing to find.

    If no query has anything to find, a mean other than Recall@k raises a ValueError.

    >>> retrieval_means({"MAP@R": torch.tensor([0.5, torch.nan, 1.0])})
    RetrievalMeans(means={'MAP@R': 0.75}, queries=3, left_out=1)
    """
    if not measured or any(not len(values) for values in measured.values()):
        raise ValueError("expected values of at least one measure and one query, got none")
    left_out = max(int(values.isnan().sum()) for values in measured.values())
    queries = len(next(iter(measured.values())))
    return RetrievalMeans({name: _mean(values) for name, values in measured.items()}, queries, left_out)


def recall_at(
    neighbours: Tensor, labels: Tensor, *, ks: Sequence[int] = (1, 2, 4, 8), ignored: Tensor | None = None
) -> dict[int, float]:
    """For each k, the share of queries with an item of their class among their k nearest.

    The share never falls as k grows. A query that is alone in its class can only miss.

    >>> recall_at(torch.tensor([[0, 1], [0, 1], [0, 1]]), torch.tensor([0, 1, 2]), ks=(1, 2))
    {1: 0.3333333333333333, 2: 0.6666666666666666}
    """
    ranking = ranked(neighbours, labels, None, ignored)
    check_ks(ranking, ks)
    return {k: int(ranking.hit[:, :k].any(1).sum()) / len(ranking.hit) for k in ks}


def precision_at(
    neighbours: Tensor, labels: Tensor, *, relevant: Tensor, ks: Sequence[int] = (1, 2, 4, 8)
) -> dict[int, float]:
    """For each k, the mean share of the k nearest that are of the query's class.

    >>> neighbours, labels = torch.tensor([[0, 1], [1, 1]]), torch.tensor([0, 1])
    >>> precision_at(neighbours, labels, relevant=torch.tensor([1, 2]), ks=(1, 2))
    {1: 1.0, 2: 0.75}
    """
    return _by_k("Precision", neighbours, labels, relevant, ks)


def ndcg_at(
    neighbours: Tensor, labels: Tensor, *, relevant: Tensor, ks: Sequence[int] = (1, 2, 4, 8)
) -> dict[int, float]:
    """For each k, the mean discounted gain of the k nearest: 1 when every relevant item that fits is ahead.

    >>> ndcg_at(torch.tensor([[0, 1, 1]]), torch.tensor([0]), relevant=torch.tensor([1]), ks=(1, 3))
    {1: 1.0, 3: 1.0}
    """
    return _by_k("nDCG", neighbours, labels, relevant, ks)


def reciprocal_rank_at(
    neighbours: Tensor, labels: Tensor, *, relevant: Tensor, ks: Sequence[int] = (1, 2, 4, 8)
) -> dict[int, float]:
    """For each k, the mean of one over the rank of the first hit; 0 for a query without one among the k.

    >>> neighbours, labels = torch.tensor([[1, 0], [1, 1]]), torch.tensor([0, 1])
    >>> reciprocal_rank_at(neighbours, labels, relevant=torch.tensor([1, 2]), ks=(1, 2))
    {1: 0.5, 2: 0.75}
    """
    return _by_k("MRR@k", neighbours, labels, relevant, ks)


def map_at(
    neighbours: Tensor, labels: Tensor, *, relevant: Tensor, ks: Sequence[int] = (1, 2, 4, 8)
) -> dict[int, float]:
    """For each k, the mean average precision of lists cut after k, over the most hits there could be.

    >>> map_at(torch.tensor([[0, 1, 0]]), torch.tensor([0]), relevant=torch.tensor([2]), ks=(1, 2, 3))
    {1: 1.0, 2: 0.5, 3: 0.8333333333333333}
    """
    return _by_k("MAP@k", neighbours, labels, relevant, ks)


def r_precision(neighbours: Tensor, labels: Tensor, *, relevant: Tensor) -> float:
    """The mean share of relevant items among the R nearest, R being how many the query has.

    >>> r_precision(torch.tensor([[0, 1], [1, 1]]), torch.tensor([0, 1]), relevant=torch.tensor([2, 2]))
    0.75
    """
    return _mean(
        retrieval_values(neighbours, labels, relevant=relevant, measures=["R-precision"])["R-precision"]
    )


def map_at_r(neighbours: Tensor, labels: Tensor, *, relevant: Tensor) -> float:
    """Like R-precision, but a hit counts as much as the precision at its rank: late hits count less.

    >>> map_at_r(torch.tensor([[1, 0], [1, 1]]), torch.tensor([0, 1]), relevant=torch.tensor([2, 2]))
    0.625
    """
    return _mean(retrieval_values(neighbours, labels, relevant=relevant, measures=["MAP@R"])["MAP@R"])


def mean_average_precision(neighbours: Tensor, labels: Tensor, *, relevant: Tensor) -> float:
    """The mean precision at the ranks of all relevant items; needs rankings long enough to hold them all.

    >>> mean_average_precision(torch.tensor([[1, 0, 0]]), torch.tensor([0]), relevant=torch.tensor([2]))
    0.5833333333333333
    """
    return _mean(retrieval_values(neighbours, labels, relevant=relevant, measures=["MAP"])["MAP"])


def mean_reciprocal_rank(neighbours: Tensor, labels: Tensor, *, relevant: Tensor) -> float:
    """The mean of one over the rank of the first hit; needs rankings long enough to hold it.

    >>> neighbours, labels = torch.tensor([[1, 0], [1, 1]]), torch.tensor([0, 1])
    >>> mean_reciprocal_rank(neighbours, labels, relevant=torch.tensor([1, 2]))
    0.75
    """
    return _mean(retrieval_values(neighbours, labels, relevant=relevant, measures=["MRR"])["MRR"])


def cumulative_match(
    neighbours: Tensor, labels: Tensor, *, relevant: Tensor, ignored: Tensor | None = None
) -> Tensor:
    """The cumulative match characteristic: float64 (ranks,), entry k - 1 being the share of queries whose
    first hit is among the k nearest.

    Like Recall@k at every k, but only over the queries that have something to find.

    >>> cumulative_match(torch.tensor([[1, 0], [1, 1]]), torch.tensor([0, 1]), relevant=torch.tensor([1, 2]))
    tensor([0.5000, 1.0000], dtype=torch.float64)
    """
    ranking = ranked(neighbours, labels, relevant, ignored)
    answerable = ranking.hit[relevant > 0]
    if not len(answerable):
        raise ValueError("expected a query with something to find, got none")
    answerable = answerable[:, : int(ranking.length.min())]
    return (answerable.cumsum(1) > 0).double().mean(0)


# --- one query at a time --------------------------------------------------------------------------


def _recall(ranking: Ranking, k: int) -> Tensor:
    return ranking.hit[:, :k].any(1).double()


def _precision(ranking: Ranking, k: int) -> Tensor:
    return _where_answerable(ranking, ranking.hit[:, :k].sum(1).double() / k)


def _ndcg(ranking: Ranking, k: int) -> Tensor:
    gains = torch.arange(2, k + 2, dtype=torch.double, device=ranking.hit.device).log2().reciprocal()
    best = torch.cat([gains.new_zeros(1), gains.cumsum(0)])[_relevant(ranking).clamp(max=k)]
    return _where_answerable(ranking, ranking.hit[:, :k].double() @ gains / best)


def _reciprocal_rank(ranking: Ranking, k: int) -> Tensor:
    hit = ranking.hit[:, :k]
    # argmax is the first hit; a row without a hit gives 0 and is masked here.
    ranks = hit.to(torch.uint8).argmax(1) + 1
    return _where_answerable(ranking, hit.any(1).double() / ranks)


def _map_at(ranking: Ranking, k: int) -> Tensor:
    most = _relevant(ranking).clamp(max=k)
    return _where_answerable(ranking, _summed_precision(ranking.hit[:, :k]) / most)


def _r_precision(ranking: Ranking) -> Tensor:
    return _where_answerable(ranking, _within_r(ranking).sum(1) / _relevant(ranking).double())


def _map_at_r(ranking: Ranking) -> Tensor:
    return _where_answerable(ranking, _summed_precision(_within_r(ranking)) / _relevant(ranking))


def _average_precision(ranking: Ranking) -> Tensor:
    hits, relevant = ranking.hit.sum(1), _relevant(ranking)
    if (hits < relevant).any():
        query = int((hits < relevant).nonzero()[0])
        raise ValueError(
            f"expected whole rankings for MAP, got one of query {query} that shows {int(hits[query])} of "
            f"{int(relevant[query])} relevant items; search the whole gallery, or use MAP@R"
        )
    return _where_answerable(ranking, _summed_precision(ranking.hit) / relevant)


def _whole_reciprocal_rank(ranking: Ranking) -> Tensor:
    cut = (_relevant(ranking) > 0) & ~ranking.hit.any(1)
    if cut.any():
        raise ValueError(
            f"expected rankings with a hit for MRR, got one of query {int(cut.nonzero()[0])} that ends "
            "before the first; search the whole gallery, or use MRR@k"
        )
    return _reciprocal_rank(ranking, ranking.hit.shape[1])


_AT_K = {
    "Recall": _recall,
    "Precision": _precision,
    "nDCG": _ndcg,
    "MRR@k": _reciprocal_rank,
    "MAP@k": _map_at,
}
_WHOLE = {
    "R-precision": _r_precision,
    "MAP@R": _map_at_r,
    "MAP": _average_precision,
    "MRR": _whole_reciprocal_rank,
}


def _summed_precision(hit: Tensor) -> Tensor:
    """The sum of the precisions at the ranks of the hits."""
    ranks = torch.arange(1, hit.shape[1] + 1, device=hit.device)
    return (hit.cumsum(1) * hit / ranks.double()).sum(1)


def _within_r(ranking: Ranking) -> Tensor:
    """The hits among the first R of each query."""
    relevant = _relevant(ranking)
    if (relevant > ranking.length).any():
        query = int((relevant > ranking.length).nonzero()[0])
        raise ValueError(
            f"expected at least {int(relevant[query])} neighbours of query {query}, as many as are relevant, "
            f"got {int(ranking.length[query])}; search with k={int(relevant.max())} or more"
        )
    longest = int(relevant.max())
    return ranking.hit[:, :longest] & (torch.arange(longest, device=relevant.device) < relevant[:, None])


def _where_answerable(ranking: Ranking, values: Tensor) -> Tensor:
    return values.masked_fill(_relevant(ranking) == 0, torch.nan)


def _relevant(ranking: Ranking) -> Tensor:
    assert ranking.relevant is not None  # only Recall@k does without
    return ranking.relevant


def _by_k(
    name: str, neighbours: Tensor, labels: Tensor, relevant: Tensor, ks: Sequence[int]
) -> dict[int, float]:
    values = retrieval_values(neighbours, labels, relevant=relevant, ks=ks, measures=[name])
    return {k: _mean(values[f"{name.removesuffix('@k')}@{k}"]) for k in ks}


def _mean(values: Tensor) -> float:
    answered = values[~values.isnan()]
    if not len(answered):
        raise ValueError("expected a query with something to find, got none")
    return float(answered.mean())
