"""A step of a GPU recorded once and replayed: a small network spends most of a step launching kernels.

The record is a CUDA graph. It repeats the same operations on the same memory, so that every input must have
the shape of the first, nothing may wait for the device, and the rate of the optimiser stays as it was.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from samekind.errors import SettingError, TrainingError
from samekind.training.run import Run

#: Steps that are taken as usual first: libraries choose their kernels and get their memory in them.
WARM_UP = 5


def expect_capturable(run: Run) -> None:
    """Raises SettingError for a run whose steps cannot be replayed."""
    reasons = {
        'the schedule changes the rate; set schedule.name to "constant"': run.schedule.name != "constant"
        or run.schedule.new_first > 0,
        'SGD cannot be recorded; set optimiser.name to "Adam" or "AdamW"': run.optimiser.name == "SGD",
        "an adversary is steered from outside; leave it out": run.adversary is not None,
        "a defence attacks every batch; set capture to false, or leave out the defence": run.defence
        is not None,
        "the memory grows; set memory to 0": run.memory > 0,
        "batches.at_once cuts a batch; set it to 0": run.batches.at_once > 0,
        'a term against the batch or with a miner asks the device; set terms against "support"': any(
            term.against != "support" or term.miner != "everything" or term.later
            for term in run.terms.values()
        ),
        'gradients are scaled; set precision to "bf16-mixed" or "32-true"': run.precision == "16-mixed",
    }
    for reason, holds in reasons.items():
        if holds:
            raise SettingError(f"run.capture: a recorded step cannot be replayed where {reason}")


class Captured:
    """A function from tensors to tensors, which changes what it likes on the device, recorded on a GPU.

    The first `WARM_UP` calls, calls with other shapes, and all calls on other devices are plain calls. Raises
    TrainingError where the device cannot record it.
    """

    def __init__(self, function: Callable[..., Sequence[Tensor]]) -> None:
        self.function = function
        self.calls = 0
        self.graph: Any = None
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def __call__(self, *inputs: Tensor) -> list[Tensor]:
        if inputs[0].device.type != "cuda" or (self.graph is not None and not self._fits(inputs)):
            return list(self.function(*inputs))
        if self.graph is None:
            self.calls += 1
            if self.calls <= WARM_UP:
                return self._aside(inputs)
            self._record(inputs)
        for own, given in zip(self.inputs, inputs, strict=True):
            own.copy_(given)
        self.graph.replay()
        # The next replay writes over them.
        return [output.clone() for output in self.outputs]

    def _fits(self, inputs: Sequence[Tensor]) -> bool:
        return all(own.shape == given.shape for own, given in zip(self.inputs, inputs, strict=True))

    def _aside(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """A plain call on another stream, as recording needs it."""
        stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            outputs = [output.clone() for output in self.function(*inputs)]
        torch.cuda.current_stream().wait_stream(stream)
        return outputs

    def _record(self, inputs: Sequence[Tensor]) -> None:
        """Record the function; it is not carried out."""
        self.inputs = [given.clone(memory_format=torch.preserve_format) for given in inputs]
        self.graph = torch.cuda.CUDAGraph()
        try:
            # Other threads may go on using the device.
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.outputs = list(self.function(*self.inputs))
        except RuntimeError as error:
            wrong = str(error).strip().partition("\n")[0]
            raise TrainingError(
                f"run.capture: this step cannot be recorded on the GPU ({wrong}); set capture to false"
            ) from error
