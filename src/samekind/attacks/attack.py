"""The contract of an attack, and the function that keeps it for all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from samekind.attacks.goal import Goal, Part, padded_again, reached, without_padding
from samekind.attacks.limits import Limits
from samekind.attacks.regions.region import of
from samekind.attacks.untouched import untouched
from samekind.errors import DataError

#: Items that are attacked at a time.
BLOCK = 512


class Point(NamedTuple):
    """The raw result of an attack for n items."""

    x: Tensor  # (n, …)
    queries: Tensor  # (n,): how often each item went through the model


#: The inside of an attack: ``run(goal, clean, limits, generator)``, for items that are all still right.
Inside = Callable[[Part, Tensor, Limits, torch.Generator], Point]


@dataclass(frozen=True)
class Attacked:
    """The result of an attack for n items."""

    x: Tensor
    """(n, …): valid inputs. An item that was wrong already is unchanged."""
    succeeded: Tensor
    """(n,): whether the goal is reached at ``x``."""
    distance: Tensor
    """(n,): of ``x`` from the item, whether the attack succeeded or not."""
    queries: Tensor
    """(n,): how often the item went through the model, forward or forward and back."""

    @property
    def radius(self) -> Tensor:
        """The distance (n,), infinite where the attack failed: for medians of least perturbations."""
        return self.distance.masked_fill(~self.succeeded, torch.inf)


class Attack(Protocol):
    """A frozen dataclass that is called with a goal and the clean items."""

    def __call__(
        self, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
    ) -> Attacked:
        """Attack items (n, …). Without a generator the seed is 0. Raises DataError for invalid items."""
        ...

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """How far attacked items are from the clean ones (n,), in the norm of the attack."""
        ...


def carried_out(
    inside: Inside,
    goal: Goal,
    x: Tensor,
    *,
    limits: Limits,
    generator: torch.Generator | None,
    distance: Callable[[Tensor, Tensor], Tensor],
) -> Attacked:
    """An attack by its inside, with the contract kept.

    Items are checked, the model is left untouched, items that are wrong already are returned as they are, and
    the inside gets the others in blocks. What it returns is clipped to the limits, and judged by the goal.
    Every block draws the same random numbers, see `shared_draws`, so an item's result does not depend on the
    other items. The caller's generator moves on by one draw. Sounds that are padded with NaN get a number in
    its place, see `Limits`; in what is returned they have it back.
    """
    padded = x
    goal, x = without_padding(goal, x, limits)
    limits.expect(x)
    if len(goal.truth) != len(x):
        raise DataError(
            f"expected {len(goal.truth)} items, one for each truth of the goal; got {len(x)}: make the goal "
            "of the labels of these items"
        )
    seed = drawn_seed(generator)
    clean = x.detach().clone()
    if not len(x):
        none = torch.zeros(0, device=x.device)
        return Attacked(clean, none.bool(), none.to(x), none.long())
    with untouched(goal.model):
        blocks = [
            _block(inside, goal, of(clean, items), items, limits, seed, distance)
            for items in torch.split(torch.arange(len(x), device=x.device), BLOCK)
        ]
    changed, *others = (torch.cat(parts) for parts in zip(*blocks, strict=True))
    return Attacked(padded_again(changed, padded, limits), *others)


class _WithInside(Protocol):
    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator, /) -> Point: ...

    def distance(self, x: Tensor, clean: Tensor) -> Tensor: ...


def called(
    self: _WithInside, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
) -> Attacked:
    """The ``__call__`` of an attack that has its inside as a method."""
    return carried_out(self._inside, goal, x, limits=limits, generator=generator, distance=self.distance)


def drawn_seed(generator: torch.Generator | None) -> int:
    """A seed from a generator, 0 without one."""
    if generator is None:
        return 0
    return int(torch.randint(2**62, (), generator=generator, device=generator.device))


def seeded(seed: int) -> torch.Generator:
    """A generator on the CPU: a seed means the same on every device."""
    return torch.Generator().manual_seed(seed)


def _block(
    inside: Inside,
    goal: Goal,
    clean: Tensor,
    items: Tensor,
    limits: Limits,
    seed: int,
    distance: Callable[[Tensor, Tensor], Tensor],
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The fields of `Attacked` for one block."""
    with torch.no_grad():
        succeeded = reached(goal, goal.outcomes(clean, items), items)
    x, queries = clean.clone(), torch.ones_like(items)
    right = (~succeeded).nonzero()[:, 0]
    if len(right):
        part = Part(goal, items[right])
        point = inside(part, clean[right], limits, seeded(seed))
        x[right] = limits.clip(point.x.detach(), clean[right])
        with torch.no_grad():
            rows = torch.arange(len(right), device=items.device)
            succeeded[right] = reached(part, part.outcomes(x[right], rows), rows)
        queries[right] += point.queries + 1
    return x, succeeded, distance(x, clean), queries
