"""Shared by attacks for the least change: the lead of another answer, and the nearest success so far."""

import torch
from torch import Tensor

from samekind.attacks.attack import Point
from samekind.attacks.goal import Part, reached
from samekind.attacks.limits import Limits
from samekind.attacks.objectives import margin
from samekind.attacks.planes import DUAL, Norm
from samekind.attacks.regions import L1, L2, Linf, Region
from samekind.attacks.regions.region import of, per_item
from samekind.errors import SettingError

#: The norms, as balls of size 1.
BALLS: dict[Norm, Region] = {"l1": L1(1.0), "l2": L2(1.0), "linf": Linf(1.0)}
#: A success needs a lead of so many roundings of the largest outcome: another batch size cannot undo it.
ROUNDINGS = 16


def leads(goal: Part, outcomes: Tensor, items: Tensor, *, rivals: int = 1) -> Tensor:
    """By how much the goal is reached (n, rivals), below 0 where it is not, the largest first.

    Each is the outcome of a rival minus that of the truth. With a target there is one: the target's outcome
    minus the best of the others.
    """
    if goal.target is not None:
        return -margin(outcomes, goal.target[items])[:, None]
    truth = goal.truth[items][:, None]
    others = outcomes.scatter(1, truth, -torch.inf)
    return others.topk(min(rivals, outcomes.shape[1] - 1), dim=1).values - outcomes.gather(1, truth)


def box(limits: Limits, clean: Tensor) -> tuple[Tensor, Tensor]:
    """The lowest and the highest valid inputs (n, …) of every clean item."""
    endless = torch.full_like(clean, torch.inf)
    return limits.bound(-endless, clean), limits.bound(endless, clean)


class Nearest:
    """The nearest success of every item so far, and how often the model was asked.

    An attack moves freely inside the range. The model gets valid items: whole numbers are rounded.
    Raises SettingError for a goal that never succeeds.
    """

    def __init__(self, goal: Part, clean: Tensor, limits: Limits, norm: Norm) -> None:
        self.goal = goal
        self.clean = clean
        self.limits = limits
        self.norm: Norm = norm
        self.items = torch.arange(len(clean), device=clean.device)
        self.x = clean.clone()
        self.distance = torch.full((len(clean),), torch.inf, dtype=clean.dtype, device=clean.device)
        self.queries = torch.zeros_like(self.items)

    def ask(self, x: Tensor, items: Tensor, *, rivals: int = 1, confidence: float = 0.0) -> Tensor:
        """The `leads` at points ``x`` (n, …) inside the range; a nearer success is remembered."""
        x, outcomes = self._outcomes(x, items)
        ahead = leads(self.goal, outcomes, items, rivals=rivals)
        rounding = torch.finfo(outcomes.dtype).eps * outcomes.detach().amax(1).abs()
        self._remember(x.detach(), items, ahead.detach()[:, 0] > confidence + ROUNDINGS * rounding)
        return ahead

    def boundary(self, x: Tensor, items: Tensor, *, rivals: int) -> tuple[Tensor, Tensor]:
        """The nearest linearised boundary with a rival: its lead (n,) at ``x``, and the lead's gradient."""
        x = x.detach().requires_grad_()
        ahead = self.ask(x, items, rivals=rivals)
        count = ahead.shape[1]
        gradients = [
            torch.autograd.grad(ahead[:, k].sum(), x, retain_graph=k + 1 < count)[0] for k in range(count)
        ]
        normals, ahead = torch.stack(gradients, 1).nan_to_num(), ahead.detach()
        sizes = normals.flatten(2).norm(p=DUAL[self.norm], dim=2)
        nearest = (ahead.abs() / sizes.clamp(min=torch.finfo(x.dtype).tiny)).argmin(1)
        rows = torch.arange(len(x), device=x.device)
        return ahead[rows, nearest], normals[rows, nearest]

    @torch.no_grad()
    def succeeds(self, x: Tensor, items: Tensor) -> Tensor:
        """Whether points succeed (n,), by the answer alone; a nearer success is remembered."""
        x, outcomes = self._outcomes(x, items)
        succeeded = reached(self.goal, outcomes, items)
        self._remember(x, items, succeeded)
        return succeeded

    @torch.no_grad()
    def answers(self, x: Tensor, items: Tensor) -> Tensor:
        """The same for items that may come more than once; nothing is remembered."""
        return reached(self.goal, self._outcomes(x, items)[1], items)

    def point(self) -> Point:
        """The nearest success of every item, or the clean item."""
        return Point(self.x, self.queries)

    def _outcomes(self, x: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """The valid points, with a gradient that passes through the rounding, and their outcomes."""
        if self.limits.integer is not None:
            x = x + (self.limits.clip(x, self.clean[items]) - x).detach()
        self.queries.index_add_(0, items, torch.ones_like(items))
        outcomes = self.goal.outcomes(x, items)
        if outcomes.shape[1] == 1:
            raise SettingError(
                "this goal has no wrong answer, so there is no least change to it; "
                "use an attack inside a region, such as PGD"
            )
        return x, outcomes

    def _remember(self, x: Tensor, items: Tensor, succeeded: Tensor) -> None:
        distance, before = BALLS[self.norm].distance(x, of(self.clean, items)), of(self.distance, items)
        nearer = succeeded & (distance < before)
        self.distance[items] = torch.where(nearer, distance, before)
        self.x[items] = torch.where(per_item(nearer, x), x, of(self.x, items))
