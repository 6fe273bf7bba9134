"""Training by tasks, checkpoint by checkpoint: the steps are those of `samekind.training.train`, the best
checkpoint is kept in memory, and at the last step of each the training dynamics are measured.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from samekind.data import Items
from samekind.measures.geometry.dynamics import class_motion, rescaling
from samekind.prototypes import from_examples
from samekind.space import MetricSpace
from samekind.training import Run, build_space
from samekind.training.build import build_sampler
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
    best, kept, number = -1, {}, 0
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
                    before = _embedded(space, x) if last else None
                    costs += learner.update(x, y, number=number - 1)
            measured = {} if before is None else moved(space, learner, before, _embedded(space, x))
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
            kept = {name: tensor.detach().clone() for name, tensor in space.state_dict().items()}
    seconds = time.perf_counter() - began
    space.load_state_dict(kept)
    return Taught(space.eval(), curves, best, seconds)


def moved(space: MetricSpace, learner: Learner, old: Tensor, new: Tensor) -> dict[str, float]:
    """What the last step did to the embeddings of its items, by the prototypes before and after it."""
    layout = learner.context.layout
    assert layout is not None
    scaling = rescaling(old, new)
    prototypes, queries = [], []
    for z in (old, new):
        examples, asked = layout.split(z)
        prototypes.append(from_examples(space.prototypes, examples)[0])
        queries.append(asked.flatten(0, 2))
    motion = class_motion(
        *queries,
        layout.truth(old.device),
        old_prototypes=prototypes[0],
        new_prototypes=prototypes[1],
        alpha=scaling.alpha,
    )
    return {**scaling._asdict(), **motion._asdict()}


@torch.no_grad()
def _embedded(space: MetricSpace, x: Tensor) -> Tensor:
    """Embeddings in training mode, in float32, without a trace in the averages of batch normalisation."""
    with _unmoved(space), torch.autocast(x.device.type, enabled=False), _exact():
        return space.embed(x).float()


@contextmanager
def _unmoved(space: nn.Module) -> Iterator[None]:
    norms: list[Any] = [part for part in space.modules() if isinstance(part, nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum


@contextmanager
def _exact() -> Iterator[None]:
    """Convolutions and products of a GPU in float32, not in fewer digits."""
    before = torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before[0]
        torch.set_float32_matmul_precision(before[1])
