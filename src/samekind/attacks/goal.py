"""Goals of attacks: the `Goal`, classes of a space as a goal, and logits of any module as a goal.

Every goal has *outcomes*, of which one is right: the classes of an item, accept or reject of a trial, the
items of a gallery. So every attack serves every goal. The outcomes are what the model decides by: an attack
succeeds where `MetricSpace.classify` would answer otherwise, not where a stand-in would.
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from samekind.attacks.limits import Limits
from samekind.attacks.objectives import Objective, cross_entropy
from samekind.decisions import Head, Kind
from samekind.errors import DataError
from samekind.space import MetricSpace


class Goal(Protocol):
    """The goal of an attack on a batch of items.

    ``truth`` (items,) is the index of the right outcome. The attack has succeeded where another outcome is
    largest, or where ``target`` (items,), if there is one, is the largest. A goal with one outcome is only
    raised: it never succeeds. ``model`` is the module to be left as it is, see `untouched`.
    """

    @property
    def model(self) -> nn.Module: ...

    @property
    def truth(self) -> Tensor: ...

    @property
    def target(self) -> Tensor | None: ...

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """Differentiable logits (n, outcomes) of inputs (n, …), the largest being the answer. ``items`` (n,)
        says which members of the attacked batch the rows are, so that attacks can drop those that are done.
        """
        ...

    def value(self, outcomes: Tensor, truth: Tensor) -> Tensor:
        """The objective of gradient attacks, (n, outcomes), (n,) -> (n,): large where ``truth`` loses."""
        ...


class Logits:
    """The classes of any module that gives logits (n, classes): a model of yours, or a peer's.

    Its normalisation belongs inside the module, so that the valid range of inputs is that of the items.
    """

    def __init__(
        self,
        model: nn.Module,
        truth: Tensor,
        *,
        target: Tensor | None = None,
        objective: Objective = cross_entropy,
    ) -> None:
        self.model = model
        self.truth = truth
        self.target = target
        self.objective = self.value = objective

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        del items
        logits: Tensor = self.model(x)
        return logits


class Classes:
    """The classes of a space: ``truth`` and ``target`` are places in ``space.classes``.

    ``head`` is what answers and what is attacked: the similarity to the prototypes, the auxiliary (dense)
    head, or both fused. ``kind`` is the kind of score of the similarity head; None is the space's choice. The
    outcomes are log-probabilities: logits less a number per item, which no gradient of an objective sees.
    """

    def __init__(
        self,
        space: MetricSpace,
        truth: Tensor,
        *,
        head: Head = "similarity",
        kind: Kind | None = None,
        target: Tensor | None = None,
        objective: Objective = cross_entropy,
    ) -> None:
        self.model = space
        self.truth = truth
        self.head = head
        self.kind = kind
        self.target = target
        self.objective = self.value = objective

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """The logits that `MetricSpace.classify` decides by."""
        del items
        return self.model.log_probabilities(self.model.embed(x), head=self.head, kind=self.kind)


class Part:
    """A goal for some ``items`` (n,) of a batch; its own items count from 0 to n - 1.

    Of a part of a batch it is a part of that batch: ``items`` are always places in the whole.
    """

    def __init__(self, goal: Goal, items: Tensor) -> None:
        self.model = goal.model
        self.truth = goal.truth.to(items.device)[items]
        self.target = None if goal.target is None else goal.target.to(items.device)[items]
        self.goal: Goal = goal.goal if isinstance(goal, Part) else goal
        self.items: Tensor = goal.items[items] if isinstance(goal, Part) else items
        self.value = goal.value

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        return self.goal.outcomes(x, self.items[items])


class WithPadding:
    """A goal whose model sees NaN where an attack has a number for the ``padding`` of sounds."""

    def __init__(self, goal: Goal, padding: float) -> None:
        self.goal = goal
        self.padding = padding
        self.model, self.truth, self.target = goal.model, goal.truth, goal.target
        self.value = goal.value

    @staticmethod
    def of(goal: Goal, padding: float) -> Goal:
        """The goal with padding, once; a part of a batch stays a part of that batch."""
        if isinstance(goal, WithPadding):
            return goal
        if isinstance(goal, Part):
            return Part(WithPadding.of(goal.goal, padding), goal.items)
        return WithPadding(goal, padding)

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        return self.goal.outcomes(x.masked_fill(x == self.padding, torch.nan), items)


def without_padding(goal: Goal, x: Tensor, limits: Limits) -> tuple[Goal, Tensor]:
    """The goal and the items as an attack has them: where sounds are padded with NaN stands the number of the
    limits. Where these have none, both are as they were.
    """
    if limits.padding is None:
        return goal, x
    return WithPadding.of(goal, limits.padding), x.masked_fill(x.isnan(), limits.padding)


def padded_again(changed: Tensor, x: Tensor, limits: Limits) -> Tensor:
    """Attacked items with NaN where the items ``x`` had it before `without_padding`."""
    return changed if limits.padding is None else changed.masked_fill(x.isnan(), torch.nan)


class Revalued:
    """A goal with another objective to raise."""

    def __init__(self, goal: Goal, objective: Objective) -> None:
        self.goal = goal
        self.objective = self.value = objective
        self.model, self.truth, self.target = goal.model, goal.truth, goal.target
        self.outcomes = goal.outcomes


class Targeted:
    """A goal with a ``target`` (items,)."""

    def __init__(self, goal: Goal, target: Tensor) -> None:
        self.goal = goal
        self.model, self.truth, self.target = goal.model, goal.truth, target
        self.outcomes, self.value = goal.outcomes, goal.value


class Raised:
    """A goal that is only raised: its one outcome is the value, so that no item is ever done.

    For the surrogate of a `Transfer`, and wherever the worst value of every item is wanted.
    """

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.model, self.truth, self.target = goal.model, goal.truth, None

    def outcomes(self, x: Tensor, items: Tensor) -> Tensor:
        """The value that an attack on the goal would raise (n, 1)."""
        return raised(self.goal, self.goal.outcomes(x, items), items)[:, None]

    def value(self, outcomes: Tensor, truth: Tensor) -> Tensor:
        del truth
        return outcomes[:, 0]


class Slope(NamedTuple):
    """The results of one forward and backward pass of n items."""

    outcomes: Tensor  # (n, outcomes)
    value: Tensor  # (n,)
    gradient: Tensor  # (n, …), of the value in the inputs


def raised(goal: Goal, outcomes: Tensor, items: Tensor) -> Tensor:
    """The objective of a gradient attack (n,): the value, or with a target, minus the value of the target."""
    if goal.target is None:
        return goal.value(outcomes, goal.truth.to(outcomes.device)[items])
    return -goal.value(outcomes, goal.target.to(outcomes.device)[items])


def reached(goal: Goal, outcomes: Tensor, items: Tensor) -> Tensor:
    """Where the attack has succeeded, a boolean (n,)."""
    if outcomes.shape[1] == 1:
        return torch.zeros(len(outcomes), dtype=torch.bool, device=outcomes.device)
    answers = outcomes.argmax(1)
    if goal.target is None:
        return answers != goal.truth.to(answers.device)[items]
    return answers == goal.target.to(answers.device)[items]


def slope(goal: Goal, x: Tensor, items: Tensor) -> Slope:
    """Outcomes, value and gradient at inputs (n, …); raises DataError for a gradient that is cut off."""
    x = x.detach().requires_grad_()
    outcomes = goal.outcomes(x, items)
    value = raised(goal, outcomes, items)
    if not value.requires_grad:
        raise DataError("the outcomes have no gradient in the inputs; use an attack without gradients")
    # Of the sum: each item's value depends on its own input alone, so its gradient is that of its value.
    [gradient] = torch.autograd.grad(value, x, torch.ones_like(value))
    return Slope(outcomes.detach(), value.detach(), gradient.nan_to_num())
