"""Effects of single training steps on the space: they rescale it, or move items nearer to their own class.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper II: embeddings of a batch before and
after a step, both in training mode. `samekind.measures.geometry` has the four numbers, and `samekind
dynamics` compares two runs by them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from samekind.data import Items
from samekind.encoders.stages import statistics_kept
from samekind.measures.geometry import DYNAMICS, step_dynamics
from samekind.prototypes import by_examples
from samekind.samplers import Layout
from samekind.space import MetricSpace
from samekind.training.checkpoints import random_states_kept
from samekind.training.extras.extra import Cost, Step
from samekind.training.run import Run
from samekind.training.terms import layout_of


@torch.no_grad()
def embedded_as_trained(encoder: nn.Module, x: Tensor, *, seed: int = 0) -> Tensor:
    """Embeddings (n, d) of a batch as a training step makes them: by the statistics of the batch and with
    dropout, which ``seed`` draws. Nothing of the encoder changes, and no random state.

    It computes with all digits of float32, whatever the precision of the training: what a step changes can be
    smaller than a number of 16 bits can tell. A compiled encoder computes as it is written: compiling it once
    more would take longer than it saves.
    """
    training = encoder.training
    encoder.train()
    try:
        as_written = torch.compiler.set_stance("force_eager")
        with random_states_kept(), statistics_kept([encoder]), _all_digits(x.device), as_written:
            torch.manual_seed(seed)
            z: Tensor = encoder(x)
    finally:
        encoder.train(training)
    return z


def half_of_each_class(labels: Tensor) -> Tensor:
    """Which items stand for their class in a batch without tasks: of each class the first half (n,).

    >>> half_of_each_class(torch.tensor([0, 1, 0, 0, 1, 2])).tolist()
    [True, True, False, False, False, False]
    """
    same = labels[:, None] == labels
    before = same.tril(-1).sum(1)
    return before < same.sum(1) // 2


class Dynamics(nn.Module):
    """Records `DYNAMICS` of the last of every ``every`` steps. It has no weight and no cost. Of batches of
    few-shot tasks, ``layout``, the examples stand for their class, with ``nearest`` each by itself.
    """

    name = "dynamics"
    rate = 0.0
    watched: tuple[str, ...] = ()
    reads_features = False

    def __init__(self, *, every: int, layout: Layout | None = None, nearest: bool = False) -> None:
        super().__init__()
        self.every = every
        self.layout = layout
        self.nearest = nearest
        self.steps: list[int] = []
        self.values: list[Tensor] = []  # (4,) each, on the device

    def cost(self, step: Step) -> Cost:
        """The embeddings before the step, if it is one to record; no loss."""
        if (step.number + 1) % self.every:
            return Cost(None)
        return Cost(None, carried=(step, embedded_as_trained(step.space.encoder, step.x, seed=step.number)))

    def settle(self, cost: Cost) -> None:
        """Compare them with those after the step, without leaving the device."""
        if cost.carried is None:
            return
        step, before = cost.carried
        after = embedded_as_trained(step.space.encoder, step.x, seed=step.number)
        self.values.append(self._measured(before, after, step.y))
        self.steps.append(step.number + 1)

    def _measured(self, before: Tensor, after: Tensor, labels: Tensor) -> Tensor:
        if self.layout is None:
            return step_dynamics(before, after, labels, half_of_each_class(labels))
        support, tasks = self.layout.support(labels.device), self.layout.task(labels.device)
        return step_dynamics(before, after, labels, support, episodes=tasks, nearest=self.nearest)

    def after_epoch(self, _means: Sequence[float]) -> dict[str, Any]:
        """How many steps of the epoch were recorded, and a list for each of `DYNAMICS`, None if undefined."""
        if not self.values:
            return {}
        device = self.values[-1].device  # those of a checkpoint are on the CPU
        columns = torch.stack([values.to(device) for values in self.values]).T.tolist()
        entry: dict[str, Any] = {"steps": self.steps}
        for name, column in zip(DYNAMICS, columns, strict=True):
            entry[name] = [value if math.isfinite(value) else None for value in column]
        self.steps, self.values = [], []
        return entry

    def get_extra_state(self) -> dict[str, Any]:
        """The records of the epoch so far, for a checkpoint in its middle."""
        return {"steps": self.steps, "values": [value.cpu() for value in self.values]}

    def set_extra_state(self, state: Mapping[str, Any]) -> None:
        self.steps, self.values = list(state["steps"]), list(state["values"])


def build_dynamics(run: Run, space: MetricSpace, _items: Items) -> Dynamics | None:
    """The recorder of a run; None where the run records no dynamics."""
    if not run.dynamics:
        return None
    return Dynamics(every=run.dynamics, layout=layout_of(run), nearest=by_examples(space.prototypes))


@contextmanager
def _all_digits(device: torch.device) -> Iterator[None]:
    """Within it a GPU multiplies and convolves with all digits of float32; other devices always do."""
    with torch.autocast(device.type, enabled=False):
        if device.type != "cuda":
            yield
            return
        precision, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
        try:
            torch.set_float32_matmul_precision("highest")
            torch.backends.cudnn.allow_tf32 = False
            yield
        finally:
            torch.set_float32_matmul_precision(precision)
            torch.backends.cudnn.allow_tf32 = convolutions
