"""The items of a training step, attacked: on the device and in the precision of the run."""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.attacks import Limits, Region, untouched
from samekind.attacks.ascent import Plan, ascend
from samekind.attacks.goal import padded_again, without_padding
from samekind.attacks.paces import Steady
from samekind.attacks.pgd import WAY
from samekind.augmentations import step_generator
from samekind.training.defences import Answers, Both, paired_logits
from samekind.training.defences.answers import logits_of
from samekind.training.defences.trades import divergence
from samekind.training.extras.extra import Step
from samekind.training.tables import Defence

#: What the terms of each head that can be attacked alone are against.
HEADS = {"similarity": "prototypes", "auxiliary": "auxiliary"}

#: Embeddings (n, d) to what the attack raises (n,).
Raised = Callable[[Tensor], Tensor]


class Ground(NamedTuple):
    """Where items may go."""

    region: Region
    limits: Limits


class InStep:
    """The goal of an attack in a step; it is of all items together, because a loss may compare them."""

    target = None

    def __init__(self, step: Step, raised: Raised) -> None:
        self.step, self.raised = step, raised
        self.model, self.truth = step.space, step.y

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """The value to raise, one outcome for each item (n, 1)."""
        del items  # always all of them
        return self.raised(self.step.forward(x)[0])[:, None]

    def value(self, outcomes: Tensor, truth: Tensor) -> Tensor:
        """The outcome."""
        del truth
        return outcomes[:, 0]


def attacked_items(step: Step, ground: Ground, settings: Defence, *, seed: int) -> Tensor:
    """The items of a step (n, …) after PGD, its last point. The space is in evaluation mode meanwhile, and
    afterwards as it was. The random start is drawn by the seed and the number of the step, one for all items.
    Sounds that are padded with NaN keep it, and no norm counts it, see `Limits`.
    """
    size = settings.step
    pace = Steady(WAY * settings.epsilon / settings.steps if size is None else size, 0.0)
    plan = Plan(steps=settings.steps, pace=lambda _: pace, random_start=True, classic=True)
    padded, limits, generator = step.x.detach(), ground.limits, step_generator(seed, step.number)
    with untouched(step.space):
        goal, clean = without_padding(InStep(step, _raised(step, settings)), padded, limits)
        x = ascend(goal, clean, limits, generator, ground.region, plan).x
    return padded_again(limits.clip(x.detach(), clean), padded, limits)


def _raised(step: Step, settings: Defence) -> Raised:
    if settings.method == "trades":
        return _difference(step)
    if settings.through == "loss":
        # One number for all items: each of them has the gradient of the whole.
        return lambda z: step.objective(z, step.y).total.expand(len(z))
    against = HEADS[settings.through]

    def cross_entropy(z: Tensor) -> Tensor:
        logits = logits_of(step.objective(z, step.y).candidates[against])
        return F.cross_entropy(logits, step.y, reduction="none")

    return cross_entropy


def _difference(step: Step) -> Raised:
    """How far the answers to attacked items are from those to the clean ones."""
    with torch.no_grad():
        z = step.forward(step.x)[0]
        clean = Answers(z, step.objective(z, step.y))

    def raised(z: Tensor) -> Tensor:
        both = Both(step.space, clean, Answers(z, step.objective(z, step.y)), step.y)
        # Rows are the items, or the queries of few-shot tasks: a sum is as good for the gradient.
        return torch.stack([divergence(*logits).sum() for logits in paired_logits(both)]).sum().expand(len(z))

    return raised
