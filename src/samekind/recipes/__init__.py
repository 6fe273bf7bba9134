"""One file per published system: a function from the shape of an item to a `Run`.

`fit` carries a run out: it trains, fills in what training leaves open, and saves the space. `leave_one_out`
does so once for every domain, which it is then tested on.
"""

from samekind.recipes.fitting import fit
from samekind.recipes.leave_one_out import leave_one_out
from samekind.recipes.prototypical import prototypical
from samekind.recipes.triplet import triplet
from samekind.recipes.verification import verification

#: The systems there are.
RECIPES = ("prototypical", "triplet", "verification")

__all__ = ["RECIPES", "fit", "leave_one_out", "prototypical", "triplet", "verification"]
