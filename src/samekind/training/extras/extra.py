"""The contract of an extra, which trains or watches beside the terms of the loss."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

from samekind.space import MetricSpace
from samekind.training.objective import Value


@dataclass(frozen=True)
class Step:
    """One training step, as an extra sees it before the gradient is computed."""

    number: int  # steps done before this one
    space: MetricSpace
    x: Tensor  # items (n, …), augmented
    y: Tensor  # labels (n,)
    z: Tensor  # embeddings (n, d)
    output: Tensor | None  # of the extra's forward, if it reads the encoder's features
    # x to z, and outputs by extra; dropout draws from the global random state
    forward: Callable[[Tensor], tuple[Tensor, Mapping[str, Tensor]]]
    objective: Callable[[Tensor, Tensor], Value]  # z and y to the objective; random states are restored
    value: Value | None = None  # the objective of z and y, as the step takes it


class Cost(NamedTuple):
    """What an extra adds to the loss that training minimises (None: nothing), the numbers it watches, in the
    order of `Extra.watched`, and whatever its `settle` needs of the time before the step.
    """

    loss: Tensor | None
    watched: Sequence[Tensor] = ()
    carried: Any = None


class Extra(Protocol):
    """A module that trains, or watches, beside the terms of the loss. It belongs to the run and its
    checkpoint, never to the space.

    Its parameters are a group of the optimiser, at ``rate``, and their gradient is clipped apart from the
    space's. Its ``state_dict`` is kept in the checkpoint. ``name`` is the name of all of these, and of its
    entry in the record.
    """

    name: str
    rate: float
    watched: tuple[str, ...]  # names of the numbers of each step; one that is not finite stops the run
    reads_features: bool  # whether it is called with the encoder's features, in the pass that embeds

    def __call__(self, features: Tensor) -> Tensor: ...

    def cost(self, step: Step) -> Cost:
        """Its cost in a step; no state of the extra or of the space changes."""

    def settle(self, cost: Cost) -> None:
        """After the optimiser's step, change what moves with a step, given the cost that it had."""

    def after_epoch(self, means: Sequence[float]) -> dict[str, Any]:
        """The entry in the record, given the means of the watched numbers over the epoch; {} for none."""

    def parameters(self) -> Iterator[nn.Parameter]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Any: ...


def parameter_groups_of(extras: Sequence[Extra]) -> list[dict[str, Any]]:
    """The groups of the optimiser for the weights of the extras, at their rates."""
    groups = [{"params": list(extra.parameters()), "lr": extra.rate, "name": extra.name} for extra in extras]
    return [group for group in groups if group["params"]]
