"""Retrieval: whether the items ranked nearest to a query are of its class."""

from collections.abc import Sequence

from torch import Tensor


def recall_at(neighbours: Tensor, labels: Tensor, *, ks: Sequence[int] = (1, 2, 4, 8)) -> dict[int, float]:
    """For each k, the share of queries with an item of their class among their k nearest.

    ``neighbours`` is (queries, ranks), the labels of each query's neighbours, nearest first, the
    query itself already left out; ``labels`` is (queries,). The share never falls as k grows. A query
    that is alone in its class can only miss.

    >>> import torch
    >>> recall_at(torch.tensor([[0, 1], [0, 1], [0, 1]]), torch.tensor([0, 1, 2]), ks=(1, 2))
    {1: 0.3333333333333333, 2: 0.6666666666666666}
    """
    if neighbours.ndim != 2 or labels.ndim != 1 or len(neighbours) != len(labels):
        shapes = f"{tuple(neighbours.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"expected neighbours (queries, ranks) and labels (queries,), got {shapes}")
    queries, ranks = neighbours.shape
    if queries == 0:
        raise ValueError("expected at least one query, got none")
    for k in ks:
        if not 1 <= k <= ranks:
            raise ValueError(f"expected k from 1 to {ranks}, the neighbours each query has, got {k}")
    hit = neighbours == labels[:, None]
    return {k: int(hit[:, :k].any(1).sum()) / queries for k in ks}
