"""Nearest neighbours as a classifier: do those nearest to a query have its class?

``neighbours`` is (queries, ranks), the labels of each query's neighbours, nearest first, the query itself
left out; ``labels`` is (queries,).
"""

import torch
from torch import Tensor

from samekind.measures.ranking import check_ks, ranked


def neighbour_accuracy(neighbours: Tensor, labels: Tensor, *, k: int = 5, at_least: int = 3) -> float:
    """The share of queries with ``at_least`` of their class among their k nearest.

    3 of 5 is the strict majority that zero-shot work calls the accuracy of nearest neighbours.

    >>> neighbour_accuracy(torch.tensor([[0, 1, 0, 0, 2], [1, 1, 0, 2, 2]]), torch.tensor([0, 1]))
    0.5
    """
    ranking = ranked(neighbours, labels, None, None)
    check_ks(ranking, [k])
    if not 1 <= at_least <= k:
        raise ValueError(f"expected at_least from 1 to {k}, got {at_least}")
    return int((ranking.hit[:, :k].sum(1) >= at_least).sum()) / len(labels)


def majority_vote(neighbours: Tensor) -> Tensor:
    """The most frequent label of each query's neighbours, (queries,). Of equally frequent labels, the first
    one wins.

    >>> majority_vote(torch.tensor([[2, 0, 0, 1], [2, 0, 0, 2]])).tolist()
    [0, 2]
    """
    if neighbours.ndim != 2 or 0 in neighbours.shape:
        shape = tuple(neighbours.shape)
        raise ValueError(f"expected neighbours (queries, ranks), at least one of each, got {shape}")
    votes = torch.zeros(neighbours.shape, dtype=torch.int32, device=neighbours.device)
    # One rank at a time: a table of all pairs of ranks would be large.
    for rank in range(neighbours.shape[1]):
        votes += neighbours == neighbours[:, rank : rank + 1]
    # Of equal counts the nearest wins: the bonus for a rank is less than a vote.
    ahead = torch.arange(neighbours.shape[1], 0, -1, device=votes.device)
    first = (votes.long() * (neighbours.shape[1] + 1) + ahead).argmax(1, keepdim=True)
    return neighbours.gather(1, first).squeeze(1)


def majority_accuracy(neighbours: Tensor, labels: Tensor, *, k: int = 5) -> float:
    """The share of queries whose class is the most frequent among their k nearest, ties to the nearest.

    >>> majority_accuracy(torch.tensor([[0, 1, 0], [2, 1, 0]]), torch.tensor([0, 1]), k=3)
    0.5
    """
    ranking = ranked(neighbours, labels, None, None)
    check_ks(ranking, [k])
    return int((majority_vote(neighbours[:, :k]) == labels).sum()) / len(labels)
