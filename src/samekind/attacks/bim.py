"""The basic iterative method of Kurakin and others 2017: PGD from the item itself."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Attacked
from samekind.attacks.goal import Goal
from samekind.attacks.limits import Limits
from samekind.attacks.pgd import PGD
from samekind.attacks.regions import Region


@dataclass(frozen=True)
class BIM:
    """``steps`` of the size ``step`` from the item; like `PGD`, but nothing is random."""

    region: Region
    _: KW_ONLY
    steps: int = 10
    step: float | None = None
    stop: bool = True
    classic: bool = False

    def __call__(
        self, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
    ) -> Attacked:
        pgd = PGD(
            self.region,
            steps=self.steps,
            step=self.step,
            random_start=False,
            stop=self.stop,
            classic=self.classic,
        )
        return pgd(goal, x, limits=limits, generator=generator)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)
