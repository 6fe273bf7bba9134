"""Square attack: random search with square patches, by the scores of the model, without gradients.

A patch of a picture, or a block of neighbouring columns of a vector, is changed at random; the change stays
where it brings the goal nearer. Patches become smaller with time.
Andriushchenko, Croce, Flammarion & Hein, "Square Attack", ECCV 2020.
"""

import math
from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.ascent import Worst
from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part, raised, reached
from samekind.attacks.limits import Limits
from samekind.attacks.nearest import leads
from samekind.attacks.paces import Ground
from samekind.attacks.regions import L2, Region
from samekind.attacks.regions.region import shared_draws

#: The share of the picture is halved after these parts of all queries.
HALVED = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Square:
    """At most ``queries`` tries to reach the goal in a region; the first patch is a ``share`` of the picture.

    In an `L2` ball a try moves length from one patch to another. In other regions it moves a patch by twice
    the size of the region, up or down for each channel, and projects. An item that succeeds is done.
    """

    region: Region
    _: KW_ONLY
    queries: int = 5000
    share: float = 0.8

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)

    @torch.no_grad()
    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        worst, rows = Worst(clean), torch.arange(len(clean), device=clean.device)
        ground = Ground(clean, self.region, limits)
        first, change = (_tiles, _moved) if isinstance(self.region, L2) else (_stripes, _patched)
        for query in range(self.queries):
            plane = _planes(worst.x[rows] - ground.clean)
            if query == 0:
                plane = first(plane, self.region.epsilon, generator)
            else:
                share = self.share / 2 ** sum(query / self.queries > part for part in HALVED)
                plane = change(plane, self.region.epsilon, share, generator)
            x = ground.valid(ground.back(ground.clean + plane.reshape(ground.clean.shape)))
            outcomes = goal.outcomes(x, rows)
            value = (
                leads(goal, outcomes, rows)[:, 0] if outcomes.shape[1] > 1 else raised(goal, outcomes, rows)
            )
            ground, rows = worst.tried(ground, rows, x, value, reached(goal, outcomes, rows))
            if not len(rows):
                break
        return Point(worst.x, worst.queries)


def _planes(change: Tensor) -> Tensor:
    """Changes (n, …) as (n, channels, height, width); a vector has the height 1."""
    if change.dim() == 2:
        return change[:, None, None]
    return change.reshape(len(change), -1, *change.shape[-2:])


def _stripes(plane: Tensor, epsilon: float, generator: torch.Generator) -> Tensor:
    """Columns at one end of the ball or the other."""
    return epsilon * _signs(plane[:, :, :1], generator).expand_as(plane)


def _patched(plane: Tensor, epsilon: float, share: float, generator: torch.Generator) -> Tensor:
    """One patch moved to an end of the ball: twice its size, from wherever it is."""
    rows, columns = _patch(plane, share, generator)
    sign = _signs(plane[:, :, :1, :1], generator)
    plane = plane.clone()
    plane[:, :, rows, columns] = (plane[:, :, rows, columns] + 2 * epsilon * sign).clamp(-epsilon, epsilon)
    return plane


def _tiles(plane: Tensor, epsilon: float, generator: torch.Generator) -> Tensor:
    """Five by five hills, each with its sign for each channel, of the length epsilon together."""
    height, width = (max(size // 5, min(size, 2)) for size in plane.shape[2:])
    rows, columns = plane.shape[2] // height, plane.shape[3] // width
    signs = _signs(plane[:, :, :rows, :columns], generator)
    hills = torch.zeros_like(plane[:1])
    hill = _hill(height, width, across=False).to(plane)
    hills[:, :, : rows * height, : columns * width] = torch.kron(signs, hill)
    return (epsilon * hills / hills.square().sum().sqrt()).expand_as(plane)


def _moved(plane: Tensor, epsilon: float, share: float, generator: torch.Generator) -> Tensor:
    """The length of two patches, and what is missing to epsilon, moved into the first of them as a hill."""
    patch, emptied = _patch(plane, share, generator, least=3), _patch(plane, share, generator, least=3)
    across = bool(shared_draws(plane.new_empty(1), generator) < 0.5)
    sign = _signs(plane[:, :, :1, :1], generator)
    old = plane[:, :, *patch]
    rest = plane.clone()
    rest[:, :, *emptied] = 0
    rest[:, :, *patch] = 0
    missing = (epsilon**2 - plane.square().sum((1, 2, 3), keepdim=True)).clamp(min=0) / plane.shape[1]
    length = (plane.square() - rest.square()).sum((2, 3), keepdim=True).clamp(min=0) + missing
    new = old / _length(old) + sign * _hill(*old.shape[2:], across=across).to(plane)
    rest[:, :, *patch] = length.sqrt() * new / _length(new)
    whole: Tensor = torch.linalg.vector_norm(rest, dim=(1, 2, 3), keepdim=True)
    return epsilon * rest / whole.clamp(min=torch.finfo(plane.dtype).tiny)


def _patch(plane: Tensor, share: float, generator: torch.Generator, *, least: int = 1) -> tuple[slice, slice]:
    """A random place for a patch with a share of the plane: a square, or a block of a vector."""
    height, width = plane.shape[2:]
    side = share * width if height == 1 else math.sqrt(share * height * width)
    sides = [min(max(round(side), least), size) for size in (height, width)]
    draws = shared_draws(plane.new_empty(1, 2), generator)[0].tolist()
    starts = [
        int(draw * (size - side + 1)) for draw, size, side in zip(draws, (height, width), sides, strict=True)
    ]
    return slice(starts[0], starts[0] + sides[0]), slice(starts[1], starts[1] + sides[1])


def _hill(height: int, width: int, *, across: bool) -> Tensor:
    """Two hills of length 1 together, one up and one down, beside or, ``across``, above each other."""
    if across or height == 1:
        halves = (_cone(height, width // 2), -_cone(height, width - width // 2))
        pattern = torch.cat(halves, 1)
    else:
        pattern = torch.cat((_cone(height // 2, width), -_cone(height - height // 2, width)), 0)
    return pattern / pattern.square().sum().sqrt()


def _cone(height: int, width: int) -> Tensor:
    """A hill: every square ring around the middle adds 1 / (its number)² to what it surrounds."""
    far = torch.maximum(
        (torch.arange(height) - height // 2).abs()[:, None], (torch.arange(width) - width // 2).abs()
    )
    heights = (1 / torch.arange(1, max(height, width, 1) // 2 + 2) ** 2).flip(0).cumsum(0).flip(0)
    return heights[far]


def _signs(like: Tensor, generator: torch.Generator) -> Tensor:
    """-1 or 1 (1, …) in the shape of one item, the same for all."""
    return torch.where(shared_draws(like, generator) < 0.5, -1.0, 1.0).to(like)


def _length(patch: Tensor) -> Tensor:
    """The Euclidean length of each channel of a patch (n, channels, 1, 1), at least a tiny one."""
    lengths: Tensor = torch.linalg.vector_norm(patch, dim=(2, 3), keepdim=True)
    return lengths.clamp(min=torch.finfo(patch.dtype).tiny)
