"""Where an attack may go: sets of inputs around every clean item, as values. `Region` is the contract."""

from samekind.attacks.regions.combined import Combined
from samekind.attacks.regions.hull import Hull
from samekind.attacks.regions.l1 import L1
from samekind.attacks.regions.l2 import L2
from samekind.attacks.regions.linf import Linf
from samekind.attacks.regions.neighbours import Neighbours
from samekind.attacks.regions.region import Region
from samekind.attacks.regions.relative import Relative
from samekind.attacks.regions.scaled import Scaled
from samekind.attacks.regions.voronoi import Voronoi

#: The regions there are.
REGIONS = ("L1", "L2", "Linf", "Combined", "Hull", "Voronoi", "Relative", "Scaled")

__all__ = [
    "L1",
    "L2",
    "REGIONS",
    "Combined",
    "Hull",
    "Linf",
    "Neighbours",
    "Region",
    "Relative",
    "Scaled",
    "Voronoi",
]
