"""Training by tasks, checkpoint by checkpoint: the steps are those of `samekind.training.train`, the best
checkpoint is held in memory, and at the last step of each the training dynamics are measured. A training that
is stopped goes on where it was last stored.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from samekind.data import Items
from samekind.measures.geometry import DYNAMICS, step_dynamics
from samekind.prototypes import by_examples
from samekind.space import MetricSpace
from samekind.training import Run, build_space
from samekind.training.build import build_sampler
from samekind.training.extras.dynamics import embedded_as_trained
from samekind.training.fabric import Fabric
from samekind.training.learner import Learner

Validate = Callable[[Learner, int], float]

#: A training is stored after so many checkpoints.
STORED_EVERY = 20


@dataclass
class Progress:
    """What a training has measured at each checkpoint, the best of them and its weights, and the seconds."""

    curves: dict[str, list[float]] = field(default_factory=dict)
    best: int = -1
    weights: dict[str, Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """The checkpoints so far."""
        return len(self.curves.get("validation", ()))


class Stopped(Exception):  # noqa: N818 (nothing is wrong)
    """The time is over; the same call goes on later."""


def taught(
    run: Run, items: Items, fabric: Fabric, validate: Validate, *, store: Path, deadline: float
) -> tuple[MetricSpace, Progress]:
    """Train for ``run.epochs`` checkpoints, and give the space as it was at the best of them. ``validate`` is
    called with the learner, its space in evaluation mode, and the number of the checkpoint; of equal ones the
    later counts. ``store`` is the file of what is done. Raises Stopped after the ``deadline`` of `time.time`.
    """
    torch.manual_seed(run.seed)
    space = build_space(run, items)
    sampler = build_sampler(run, items.labels)
    learner = Learner(run, space, items, fabric, batches=len(sampler))
    progress = _resumed(learner, run, store)
    while progress.done < run.epochs:
        if time.time() > deadline:
            _save(learner, run, progress, store)
            raise Stopped(f"stopped after {progress.done} of {run.epochs} checkpoints, to go on later")
        began, checkpoint = time.perf_counter(), progress.done
        batches = torch.stack(sampler.batches(checkpoint)).to(fabric.device)
        measured = _steps(learner, items, batches, number=checkpoint * len(batches))
        space.eval()
        measured["validation"] = validate(learner, checkpoint)
        for name, value in measured.items():
            progress.curves.setdefault(name, []).append(value)
        if progress.best < 0 or measured["validation"] >= progress.curves["validation"][progress.best]:
            progress.best = checkpoint
            progress.weights = {name: tensor.detach().clone() for name, tensor in space.state_dict().items()}
        progress.seconds += time.perf_counter() - began
        if progress.done % STORED_EVERY == 0:
            _save(learner, run, progress, store)
    space.load_state_dict(progress.weights)
    return space.eval(), progress


def _steps(learner: Learner, items: Items, batches: Tensor, *, number: int) -> dict[str, float]:
    """The steps of a checkpoint, ``number`` of them being done, and what they measure."""
    costs, space, ahead = [], learner.space, learner.run.ahead
    with learner.training():
        for start in range(0, len(batches), ahead):
            some = batches[start : start + ahead]
            seen = learner.seen(items.inputs[some.flatten()], number=number)
            for place, (x, y) in enumerate(zip(seen.split(some.shape[1]), items.labels[some], strict=True)):
                last = start + place + 1 == len(batches)
                before = embedded_as_trained(space.encoder, x) if last else None
                costs += learner.update(x, y, number=number)
                number += 1
        assert before is not None
        after = embedded_as_trained(space.encoder, x)
        layout = learner.context.layout
        assert layout is not None
        support, nearest = layout.support(x.device), by_examples(space.prototypes)
        values = step_dynamics(before, after, y, support, nearest=nearest).tolist()
    return {
        **dict(zip(DYNAMICS, values, strict=True)),
        "loss": float(torch.stack(costs).mean()),
        "exponent": float(space.similarity.scale().detach()),
    }


def _save(learner: Learner, run: Run, progress: Progress, store: Path) -> None:
    store.parent.mkdir(parents=True, exist_ok=True)
    beside = store.with_suffix(".part")
    torch.save({"run": run.to_dict(), "states": learner.state_dict(), "progress": asdict(progress)}, beside)
    beside.replace(store)


def _resumed(learner: Learner, run: Run, store: Path) -> Progress:
    """What was stored of the same run, with which the learner goes on; else nothing."""
    if not store.exists():
        return Progress()
    content: dict[str, Any] = torch.load(store, map_location=learner.fabric.device, weights_only=False)
    if content["run"] != run.to_dict():
        return Progress()
    states = content["states"]
    learner.load_state_dict({**states, "generator": states["generator"].cpu()})
    return Progress(**content["progress"])
