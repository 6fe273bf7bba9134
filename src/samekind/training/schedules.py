"""How the learning rate moves: by steps, by epochs, or when nothing improves.

PyTorch's own schedulers behind two calls, so that the loop need not know which it has.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import torch
from torch.optim.lr_scheduler import ExponentialLR, LambdaLR, MultiStepLR, ReduceLROnPlateau

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


def after(done: int, factor: Callable[[int], float], *, first: float) -> float:
    """The factor of a rate that is 0 in the ``first`` steps."""
    return factor(done) if done >= first else 0.0


def _stepwise(optimiser: torch.optim.Optimizer, factor: Callable[[int], float], *, first: float) -> LambdaLR:
    """PyTorch's schedule of a factor, by the steps done; pretrained groups stand still in the ``first``."""
    later = partial(after, factor=factor, first=first)
    return LambdaLR(
        optimiser, [later if group.get("pretrained") else factor for group in optimiser.param_groups]
    )


class Scheduler:
    """Moves the rate by the run's schedule, after each step or epoch (of so many ``batches``)."""

    def __init__(self, optimiser: torch.optim.Optimizer, run: Run, *, batches: int) -> None:
        self.optimiser = optimiser
        #: At most one of PyTorch's, by when it moves: "by_step", "by_epoch" or "by_measure".
        self.inner: dict[str, Any] = {}
        schedule = run.schedule
        match schedule.name:
            case "inverse-square-root":
                self.inner["by_step"] = LambdaLR(
                    optimiser, lambda done: inverse_square_root(done + 1, warmup=schedule.warmup)
                )
            case "cosine":
                steps = run.epochs * batches
                # The last step is left to the cosine, however short the run.
                warmup = min(math.ceil(schedule.warmup_epochs * batches), steps - 1)
                factor = partial(cosine, steps=steps, warmup=warmup)
                self.inner["by_step"] = _stepwise(optimiser, factor, first=schedule.new_first * batches)
            case "constant" if schedule.new_first:
                self.inner["by_step"] = _stepwise(
                    optimiser, lambda _: 1.0, first=schedule.new_first * batches
                )
            case "multi-step":
                self.inner["by_epoch"] = MultiStepLR(optimiser, list(schedule.milestones), schedule.factor)
            case "exponential":
                self.inner["by_epoch"] = ExponentialLR(optimiser, schedule.factor)
            case "plateau":
                mode: Literal["min", "max"] = "min" if run.direction == "lower" else "max"
                self.inner["by_measure"] = ReduceLROnPlateau(
                    optimiser, mode, schedule.factor, schedule.patience, threshold=1e-4, min_lr=1e-7
                )

    def after_step(self) -> None:
        """Called once the optimiser has stepped."""
        if "by_step" in self.inner:
            self.inner["by_step"].step()

    def after_epoch(self, watched: float) -> None:
        """Called once an epoch is validated, with the watched measure."""
        if "by_epoch" in self.inner:
            self.inner["by_epoch"].step()
        if "by_measure" in self.inner:
            self.inner["by_measure"].step(watched)

    @property
    def rate(self) -> float:
        """The rate of the first parameter group."""
        return float(self.optimiser.param_groups[0]["lr"])

    def state_dict(self) -> dict[str, Any]:
        return {name: scheduler.state_dict() for name, scheduler in self.inner.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name, scheduler in self.inner.items():
            scheduler.load_state_dict(state[name])
