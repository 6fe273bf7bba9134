"""Where an attack may go: sets of inputs around every clean item, as values. `Region` is the contract."""

from collections.abc import Callable
from typing import Literal

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

#: "snr" is the l2 norm in the size of the item: a signal-to-noise ratio.
Norm = Literal["linf", "l2", "l1", "snr"]
#: The ball of each norm, from its size.
NORMS: dict[Norm, Callable[[float], L1 | L2 | Linf | Relative]] = {
    "linf": Linf,
    "l2": L2,
    "l1": L1,
    "snr": Relative,
}

__all__ = [
    "L1",
    "L2",
    "NORMS",
    "REGIONS",
    "Combined",
    "Hull",
    "Linf",
    "Neighbours",
    "Norm",
    "Region",
    "Relative",
    "Scaled",
    "Voronoi",
]
