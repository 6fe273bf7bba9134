"""A region in other units: columns of a table in standard deviations, so that epsilon is one for all."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.region import Region
from samekind.errors import SettingError


@dataclass(frozen=True, eq=False)
class Scaled:
    """The ``region`` of items divided by a ``scale``, above 0, that broadcasts with one item: epsilon and
    distances are in these units, items are not changed. Raises SettingError for a scale that is not above 0.
    """

    region: Region
    scale: Tensor

    def __post_init__(self) -> None:
        if not bool((self.scale > 0).all()):
            raise SettingError(f"a scale must be above 0, got {float(self.scale.min()):g}")

    @property
    def epsilon(self) -> float:
        return self.region.epsilon

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """Points of the region near ``x``; what is inside stays as it is, to the last digit."""
        scale = self.scale.to(x)
        given = x / scale
        projected = self.region.project(given, clean / scale)
        return torch.where(projected == given, x, projected * scale)

    def steepest(self, gradient: Tensor) -> Tensor:
        """The step of size 1 in these units, for a gradient in the units of the items."""
        scale = self.scale.to(gradient)
        return self.region.steepest(gradient * scale) * scale

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        scale = self.scale.to(clean)
        return self.region.start(clean / scale, generator) * scale

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        scale = self.scale.to(x)
        return self.region.contains(x / scale, clean / scale)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        scale = self.scale.to(x)
        return self.region.distance(x / scale, clean / scale)

    def resized(self, epsilon: float) -> Self:
        return replace(self, region=self.region.resized(epsilon))
