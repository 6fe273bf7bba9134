"""Training by tasks, checkpoint by checkpoint: the steps are those of `samekind.training.train`, the best
checkpoint is kept in memory, and at the last step of each the training dynamics are measured.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from samekind.data import Items
from samekind.measures.geometry import DYNAMICS, step_dynamics
from samekind.space import MetricSpace
from samekind.training import Run, build_space
from samekind.training.build import build_sampler
from samekind.training.extras.dynamics import embedded_as_trained
from samekind.training.fabric import Fabric
from samekind.training.learner import Learner

Validate = Callable[[MetricSpace, int], float]


class Taught(NamedTuple):
    """The space as it was at its best checkpoint, what was measured at each, and the seconds it took."""

    space: MetricSpace
    checkpoints: dict[str, list[float]]
    best: int
    seconds: float


def taught(run: Run, items: Items, fabric: Fabric, validate: Validate) -> Taught:
    """Train for ``run.epochs`` checkpoints. ``validate`` is called with the space, in evaluation mode, and
    the number of the checkpoint; of equal ones the later is kept.
    """
    torch.manual_seed(run.seed)
    space = build_space(run, items)
    sampler = build_sampler(run, items.labels)
    learner = Learner(run, space, items, fabric, batches=len(sampler))
    curves: dict[str, list[float]] = {}
    best, weights, number = -1, {}, 0
    began = time.perf_counter()
    for checkpoint in range(run.epochs):
        batches = torch.stack(sampler.batches(checkpoint)).to(fabric.device)
        costs = []
        with learner.training():
            for start in range(0, len(batches), run.ahead):
                some = batches[start : start + run.ahead]
                seen = learner.seen(items.inputs[some.flatten()], number=number)
                for x, y in zip(seen.split(some.shape[1]), items.labels[some], strict=True):
                    number += 1
                    last = number % len(batches) == 0
                    before = embedded_as_trained(space.encoder, x) if last else None
                    costs += learner.update(x, y, number=number - 1)
            assert before is not None
            after = embedded_as_trained(space.encoder, x)
            support, nearest = learner.context.layout.support(fabric.device), space.prototypes.count > 1
            values = step_dynamics(before, after, y, support, nearest=nearest).tolist()
        measured = dict(zip(DYNAMICS, values, strict=True))
        space.eval()
        measured |= {
            "loss": float(torch.stack(costs).mean()),
            "validation": validate(space, checkpoint),
            "exponent": float(space.similarity.scale().detach()),
        }
        for name, value in measured.items():
            curves.setdefault(name, []).append(value)
        if best < 0 or measured["validation"] >= curves["validation"][best]:
            best = checkpoint
            weights = {name: tensor.detach().clone() for name, tensor in space.state_dict().items()}
    seconds = time.perf_counter() - began
    space.load_state_dict(weights)
    return Taught(space.eval(), curves, best, seconds)
