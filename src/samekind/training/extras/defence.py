"""A defence of a run: the items of every step are attacked, and what they answer is part of the loss.

Prototypes and scales move by the clean items, batch statistics by both. The record has the loss of the
attacked items, and how many times as long as without the defence a step takes.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from samekind.attacks.regions import NORMS, Neighbours, Region, Relative, Voronoi
from samekind.data import Items, draw
from samekind.encoders.stages import statistics_kept
from samekind.errors import SettingError
from samekind.space import MetricSpace
from samekind.training.checkpoints import random_states_kept
from samekind.training.defences import DEFENCES, Answers, Both
from samekind.training.extras.attack_in_step import HEADS, Ground, attacked_items
from samekind.training.extras.extra import Cost, Step
from samekind.training.run import Run
from samekind.training.tables import Defence
from samekind.training.valid_inputs import valid_inputs

#: Pictures that are looked at for their range, and the first step that is timed: the ones before are slower.
LOOKED_AT, TIMED = 256, 2


class Defended(nn.Module):
    """Attacks the items of each step and adds the cost of the run's defence."""

    name = "defence"
    rate = 0.0
    watched: tuple[str, ...] = ("defence",)
    reads_features = False

    def __init__(self, settings: Defence, ground: Ground, *, seed: int) -> None:
        super().__init__()
        self.settings, self.ground, self.seed = settings, ground, seed
        self.steps = 0
        self.times: float | None = None

    def cost(self, step: Step) -> Cost:
        """The part of the loss from attacked items, and their own loss."""
        assert step.value is not None
        self.steps += 1
        if self.times is None and self.steps > TIMED:
            self.times = self._timed(step)
        x = attacked_items(step, self.ground, self.settings, seed=self.seed)
        z, _ = step.forward(x)
        attacked = Answers(z, step.objective(z, step.y))
        both = Both(step.space, Answers(step.z, step.value), attacked, step.y)
        return Cost(DEFENCES[self.settings.method](both, self.settings), (attacked.value.total,))

    def settle(self, cost: Cost) -> None:
        """Nothing moves."""

    def after_epoch(self, means: Sequence[float]) -> dict[str, Any]:
        """The mean loss of attacked items, and the time of a step in steps without the defence."""
        return {"loss": means[0], **({} if self.times is None else {"times as long": round(self.times, 1)})}

    def _timed(self, step: Step) -> float:
        """A plain pass, one of the attacked items, and the attack, in plain passes."""
        plain = min(_seconds(step.x.device, lambda: _plain_pass(step)) for _ in range(2))
        attack = _seconds(
            step.x.device, lambda: attacked_items(step, self.ground, self.settings, seed=self.seed)
        )
        return 2 + attack / plain


def build_defence(run: Run, space: MetricSpace, items: Items) -> Defended | None:
    """The defence of a run; None where it has none."""
    settings = run.defence
    if settings is None:
        return None
    _check(settings, run, space)
    # Only the range of pictures matters, and they may take long to decode.
    whole = settings.cells or items.medium.units(items.shape) != "channels"
    inputs = valid_inputs(space, items if whole else draw(items, most=LOOKED_AT))
    ball = NORMS[settings.norm](settings.epsilon)
    assert not isinstance(ball, Relative)  # the settings have no such norm
    if settings.cells and bool(inputs.x.isnan().any()):
        raise SettingError(
            "run.defence.cells: Voronoi cells are for items of one size, and these sounds have several "
            "lengths; leave out cells"
        )
    region: Region = Voronoi(ball, Neighbours(inputs.measured(inputs.x))) if settings.cells else ball
    return Defended(settings, Ground(inputs.in_units(region), inputs.limits), seed=run.seed)


def _check(settings: Defence, run: Run, space: MetricSpace) -> None:
    """Raises SettingError for a defence that does not suit the rest of the run."""
    against = {term.against for term in run.terms.values()}
    if settings.through != "loss" and HEADS[settings.through] not in against:
        raise SettingError(
            f'run.defence.through: no term trains the head "{settings.through}"; set through to "loss"'
        )
    if settings.cells and run.augment:
        raise SettingError(
            "run.defence.cells: Voronoi cells are those of the training items as they are; leave out "
            "augment, or cells"
        )
    if settings.method != "negative-margin":
        return
    if "prototypes" not in against or space.similarity.quantity != "cosine" or space.prototypes.count > 1:
        raise SettingError(
            'run.defence.method: "negative-margin" needs a term against prototypes, one a class, by cosine; '
            "begin with the recipe norm-face, or choose another method"
        )


def _plain_pass(step: Step) -> None:
    """The passes of a step without the defence; nothing changes."""
    weights = [weight for weight in step.space.parameters() if weight.requires_grad]
    with random_states_kept(), statistics_kept([step.space]):
        z, _ = step.forward(step.x)
        torch.autograd.grad(step.objective(z, step.y).total, weights, allow_unused=True)


def _seconds(device: torch.device, call: Callable[[], Tensor | None]) -> float:
    """How long a call takes; a GPU is waited for."""
    wait: Callable[[], None] = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    wait()
    began = time.perf_counter()
    call()
    wait()
    return time.perf_counter() - began
