"""How the learning rate moves: by steps, by epochs, or when nothing improves.

PyTorch's own schedulers behind two calls, so that the loop need not know which it has.
"""

import math
from typing import Any

import torch
from torch.optim.lr_scheduler import LambdaLR, MultiStepLR, ReduceLROnPlateau

from samekind.training.run import Run


def inverse_square_root(step: int, *, warmup: int) -> float:
    """The factor of the rate at step 1, 2, …: rises to 1/√warmup at ``warmup``, then falls as 1/√step."""
    return float(min(step**-0.5, step * warmup**-1.5))


def cosine(done: int, *, steps: int, warmup: int) -> float:
    """The factor of the rate when ``done`` of ``steps`` steps are done: 1/warmup, 2/warmup, … to 1 in the
    first ``warmup``, then half a cosine from 1 down to 0, which only a step after the last would have.
    """
    if done < warmup:
        return (done + 1) / warmup
    return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (done - warmup) / (steps - warmup)))


class Scheduler:
    """Moves the rate after each step or each epoch, as the run's schedule says; ``batches`` is the number of
    steps in an epoch.
    """

    def __init__(self, optimiser: torch.optim.Optimizer, run: Run, *, batches: int) -> None:
        self.optimiser = optimiser
        schedule = run.schedule
        self.by_step: LambdaLR | None = None
        self.by_epoch: MultiStepLR | None = None
        self.by_measure: ReduceLROnPlateau | None = None
        match schedule.name:
            case "inverse-square-root":
                warmup = max(1, schedule.warmup)
                self.by_step = LambdaLR(optimiser, lambda done: inverse_square_root(done + 1, warmup=warmup))
            case "cosine":
                steps, rising = run.epochs * batches, math.ceil(schedule.warmup_epochs * batches)
                # The last step is left to the cosine, however short the run.
                rising = min(rising, steps - 1)
                self.by_step = LambdaLR(optimiser, lambda done: cosine(done, steps=steps, warmup=rising))
            case "multi-step":
                self.by_epoch = MultiStepLR(optimiser, list(schedule.milestones), schedule.factor)
            case "plateau":
                self.by_measure = ReduceLROnPlateau(
                    optimiser,
                    "min" if run.direction == "lower" else "max",
                    schedule.factor,
                    schedule.patience,
                    threshold=1e-4,
                    min_lr=1e-7,
                )

    def after_step(self) -> None:
        """Called once the optimiser has stepped."""
        if self.by_step is not None:
            self.by_step.step()

    def after_epoch(self, watched: float) -> None:
        """Called once an epoch is validated, with the watched measure."""
        if self.by_epoch is not None:
            self.by_epoch.step()
        if self.by_measure is not None:
            self.by_measure.step(watched)

    @property
    def rate(self) -> float:
        """The rate of the first parameter group."""
        return float(self.optimiser.param_groups[0]["lr"])

    def state_dict(self) -> dict[str, Any]:
        return {name: each.state_dict() for name, each in self._inner().items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, each in self._inner().items():
            each.load_state_dict(state[name])

    def _inner(self) -> dict[str, Any]:
        each = {"by_step": self.by_step, "by_epoch": self.by_epoch, "by_measure": self.by_measure}
        return {name: scheduler for name, scheduler in each.items() if scheduler is not None}
