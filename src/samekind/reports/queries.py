"""Which queries a report shows."""

from typing import NamedTuple

import torch
from torch import Tensor


class Queries(NamedTuple):
    """Items to show as queries, and what the caption should say about the choice."""

    indices: Tensor  # (queries,), the chosen mistakes last
    mistakes: int  # how many of the last were chosen because they are mistakes
    all_mistakes: int  # how many there are among all items


def choose_queries(
    labels: Tensor, nearest: Tensor, *, count: int = 8, mistakes: int = 2, seed: int = 0
) -> Queries:
    """Queries drawn at random, the last few of them among those whose nearest item is of another class.

    ``labels`` (n,) are the classes of the items, ``nearest`` (n,) those of their nearest items. If there are
    fewer mistakes, more queries are drawn at random.
    """
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    wrong = order[(labels != nearest)[order]]
    chosen = wrong[: min(mistakes, count)]
    others = order[~torch.isin(order, chosen)][: count - len(chosen)]
    return Queries(torch.cat([others, chosen]), len(chosen), len(wrong))
