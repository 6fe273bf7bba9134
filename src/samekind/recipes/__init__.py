"""The house recipe, and one file per published system: a function from items, or their shape, to a `Run`.

`climb` measures what training gives, rung by rung, and keeps the best: what happens if no recipe is named.
`RECIPES` holds the systems by their names in run files and on the command line. `fit` trains a run, or climbs
for data alone, and saves the space, ready for use. `suited` adapts a run to few items, as the command line
does. `leave_one_out` trains a run once for every domain, which it is then tested on.
"""

from types import MappingProxyType

from samekind.recipes.defended import DEFENDED
from samekind.recipes.encoder import Recipes
from samekind.recipes.few_items import suited
from samekind.recipes.few_shot import FEW_SHOT, few_shot
from samekind.recipes.fitting import fit
from samekind.recipes.house import house
from samekind.recipes.ladder import climb
from samekind.recipes.leave_one_out import leave_one_out
from samekind.recipes.prototypical import prototypical
from samekind.recipes.proxies import BY_TREE, OTHER_SPACES, PROXIES, proxies
from samekind.recipes.retrieval import RETRIEVAL, retrieval
from samekind.recipes.siamese import siamese
from samekind.recipes.speakers import SPEAKERS, speakers
from samekind.recipes.triplet import triplet
from samekind.recipes.unseen import UNSEEN, unseen
from samekind.recipes.verification import verification

#: The systems: names, and functions from items, or the shape of one, to a run.
RECIPES: Recipes = MappingProxyType(
    {
        "house": house,
        "prototypical": prototypical,
        "siamese": siamese,
        "triplet": triplet,
        "verification": verification,
        **DEFENDED,
        **FEW_SHOT,
        **PROXIES,
        **BY_TREE,
        **OTHER_SPACES,
        **RETRIEVAL,
        **SPEAKERS,
        **UNSEEN,
    }
)

__all__ = [
    "RECIPES",
    "climb",
    "few_shot",
    "fit",
    "house",
    "leave_one_out",
    "prototypical",
    "proxies",
    "retrieval",
    "siamese",
    "speakers",
    "suited",
    "triplet",
    "unseen",
    "verification",
]
