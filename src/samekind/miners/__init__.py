"""Which triplets a loss looks at: scores and masks to rows and thinner masks.

A miner is ``miner(scores, positive, negative, *, generator) -> (rows, positive, negative)``. A row is an
anchor, or one (anchor, positive) pair where the choice of negatives depends on the pair; the loss gets
``scores[rows]``. Miners see scores without gradient and keep no state.
"""

from samekind.miners.everything import everything
from samekind.miners.hardest import hardest

__all__ = ["everything", "hardest"]
