"""One file per published system: a function from items, or the shape of one, to a `Run`.

`RECIPES` holds the systems by name, as a run file and the command line say it. `fit` carries a run out: it
trains, fills in what training leaves open, and saves the space. `suited` fits a run to few items, as the
command line does. `leave_one_out` carries a run out once for every domain, which it is then tested on.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from samekind.recipes.encoder import Subject
from samekind.recipes.few_items import suited
from samekind.recipes.fitting import fit
from samekind.recipes.leave_one_out import leave_one_out
from samekind.recipes.prototypical import prototypical
from samekind.recipes.triplet import triplet
from samekind.recipes.unseen import UNSEEN, unseen
from samekind.recipes.verification import verification
from samekind.training import Run

#: The systems there are: what each is called, and the function from items, or the shape of one, to its run.
RECIPES: Mapping[str, Callable[[Subject], Run]] = MappingProxyType(
    {"prototypical": prototypical, "triplet": triplet, "verification": verification, **UNSEEN}
)

__all__ = ["RECIPES", "fit", "leave_one_out", "prototypical", "suited", "triplet", "unseen", "verification"]
