"""One file per published system: a function from the shape of an item to a `Run`.

`fit` carries a run out: it trains, fills in what training leaves open, and saves the space.
"""

from samekind.recipes.fitting import fit
from samekind.recipes.prototypical import prototypical
from samekind.recipes.triplet import triplet
from samekind.recipes.verification import verification

#: The systems there are.
RECIPES = ("prototypical", "triplet", "verification")

__all__ = ["RECIPES", "fit", "prototypical", "triplet", "verification"]
