"""Attacks: items changed a little, so that a space answers wrongly; to measure how far it can be trusted.

- A `Goal` says what an attack wants: `Classes` of a space, `Logits` of any module, in `goals` the other
  questions of a space; every attack serves every goal.
- A region says where the attack may go: `L1`, `L2`, `Linf`, the `Hull` of two balls, `Combined` distances,
  `Voronoi` cells, in other units `Scaled`, in the item's own size `Relative`; see `regions`.
- `Limits` are the valid inputs: `PICTURES` from 0 to 1, `SOUNDS` from -1 to 1, `column_limits` of a table.
- An attack is a frozen dataclass: ``attack(goal, x, limits=…, generator=…)`` gives `Attacked`. Inside it
  calls `carried_out`, which keeps the contract: valid inputs, an item that is wrong already unchanged, the
  model as it was found, an item's result independent of the other items, the same with the same seed.
"""

from samekind.attacks.aimed import Aimed
from samekind.attacks.apgd import APGD
from samekind.attacks.attack import Attack, Attacked, carried_out
from samekind.attacks.bim import BIM
from samekind.attacks.carlini_wagner import CarliniWagner
from samekind.attacks.deep_fool import DeepFool
from samekind.attacks.fab import FAB
from samekind.attacks.fgsm import FGSM
from samekind.attacks.goal import Classes, Goal, Logits, Raised
from samekind.attacks.goals import Enrolments, NoneOfThese, Retrieval, Shift, Trials
from samekind.attacks.hop_skip_jump import HopSkipJump
from samekind.attacks.limits import PICTURES, SOUNDS, Limits, column_limits
from samekind.attacks.objectives import cross_entropy, logit_ratio, margin
from samekind.attacks.pgd import PGD
from samekind.attacks.random_search import RandomSearch
from samekind.attacks.regions import (
    L1,
    L2,
    Combined,
    Hull,
    Linf,
    Neighbours,
    Region,
    Relative,
    Scaled,
    Voronoi,
)
from samekind.attacks.several import Several
from samekind.attacks.square import Square
from samekind.attacks.transfer import Transfer
from samekind.attacks.untouched import untouched
from samekind.attacks.within import Within

#: The attacks there are.
ATTACKS = (
    "APGD", "Aimed", "BIM", "CarliniWagner", "DeepFool", "FAB", "FGSM", "HopSkipJump", "PGD", "RandomSearch",
    "Several", "Square", "Transfer", "Within",
)  # fmt: skip

__all__ = [
    "APGD",
    "ATTACKS",
    "BIM",
    "FAB",
    "FGSM",
    "L1",
    "L2",
    "PGD",
    "PICTURES",
    "SOUNDS",
    "Aimed",
    "Attack",
    "Attacked",
    "CarliniWagner",
    "Classes",
    "Combined",
    "DeepFool",
    "Enrolments",
    "Goal",
    "HopSkipJump",
    "Hull",
    "Limits",
    "Linf",
    "Logits",
    "Neighbours",
    "NoneOfThese",
    "Raised",
    "RandomSearch",
    "Region",
    "Relative",
    "Retrieval",
    "Scaled",
    "Several",
    "Shift",
    "Square",
    "Transfer",
    "Trials",
    "Voronoi",
    "Within",
    "carried_out",
    "column_limits",
    "cross_entropy",
    "logit_ratio",
    "margin",
    "untouched",
]
