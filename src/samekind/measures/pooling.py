"""Pool adjacent violators: the rising curve nearest to what was observed.

Ayer et al., "An Empirical Distribution Function for Sampling with Incomplete Information", Annals of
Mathematical Statistics 1955.
"""

import torch

from samekind.measures.sorted_trials import Levels


def pool_adjacent_violators(levels: Levels) -> Levels:
    """Levels of neighbouring scores put together until the share of targets rises from each to the next.

    A block has the lowest of its scores; equal shares are also pooled. Whole numbers avoid rounding. All
    violations are pooled at once, repeatedly, until there is none: the order of pooling does not change the
    result.
    """
    scores, targets, impostors = levels
    while True:
        # Not rising: t / i of a block is no less than that of the next, in whole numbers.
        joined = targets[:-1] * impostors[1:] >= targets[1:] * impostors[:-1]
        if not joined.any():
            return Levels(scores, targets, impostors)
        first = torch.cat([torch.ones_like(joined[:1]), ~joined])
        block = first.cumsum(0) - 1
        scores = scores[first]
        nothing = torch.zeros_like(targets[: len(scores)])
        targets, impostors = (nothing.index_add(0, block, counts) for counts in (targets, impostors))
