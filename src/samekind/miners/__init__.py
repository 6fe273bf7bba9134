"""Which triplets a loss looks at: scores and masks to rows and thinner masks.

A miner is ``miner(scores, positive, negative, *, generator, …) -> (rows, positive, negative)``. A row is an
anchor, or one (anchor, positive) pair where the choice of negatives depends on the pair. The loss gets
``scores[rows]``. Miners see scores without gradient and keep no state. The generator is on the CPU, wherever
the scores are.

A miner with the parameters ``dimension`` (of the embeddings) or ``quantity`` (what the scores are) gets them
when the run is built. `BATCH_ONLY` names the miners for terms against the batch alone.
"""

from samekind.miners.angular import angular
from samekind.miners.distance_weighted import distance_weighted
from samekind.miners.easy_hard import easy_hard
from samekind.miners.easy_positives import easy_positives
from samekind.miners.everything import everything
from samekind.miners.hardest import hardest
from samekind.miners.informative import informative
from samekind.miners.one_pair import one_pair
from samekind.miners.pair_margin import pair_margin
from samekind.miners.rho_switch import rho_switch
from samekind.miners.semi_hard import semi_hard
from samekind.miners.triplet_margin import triplet_margin

#: Miners that read a candidate as an anchor: they need the scores of a batch with itself.
BATCH_ONLY = ("angular", "rho_switch")

__all__ = [
    "angular",
    "distance_weighted",
    "easy_hard",
    "easy_positives",
    "everything",
    "hardest",
    "informative",
    "one_pair",
    "pair_margin",
    "rho_switch",
    "semi_hard",
    "triplet_margin",
]
