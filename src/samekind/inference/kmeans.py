"""k-means for many items and many groups: exact, in blocks, and computed only where something changed.

Lloyd, "Least squares quantization in PCM", 1982; starts by Arthur and Vassilvitskii, "k-means++: The
Advantages of Careful Seeding", SODA 2007.
"""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.errors import SettingError

#: Items compared at a time, and the pairs of an item and a centre: on a CPU such a block stays in the cache.
STRIP = 256
PAIRS = {"cpu": 2**20, "other": 2**26}

Start = Literal["k-means++", "random"]


class Grouping(NamedTuple):
    """Items in groups, each item in the group of its nearest centre."""

    assigned: Tensor  # (n,)
    centres: Tensor  # (groups, d)
    inertia: float  # the sum of squared distances of the items to their centres
    rounds: int  # how often the centres moved
    settled: bool  # whether it converged: each centre is the mean of its group


@torch.no_grad()
def kmeans(
    z: Tensor,
    *,
    groups: int,
    start: Start | Tensor = "k-means++",
    rounds: int = 100,
    restarts: int = 1,
    seed: int = 0,
) -> Grouping:
    """Groups of embeddings (n, d) around centres, the best of ``restarts`` by inertia.

    ``start`` draws the first centres from the items: ``"k-means++"``, far from each other, which takes about
    as long as ten rounds, or ``"random"``; or it is the centres (groups, d) themselves, for one run. A group
    that loses all its items starts again from the item furthest from its centre; with fewer distinct items
    than groups, some stay empty. An item equally near to two centres goes to the lower group. The same seed
    gives the same groups. The table of all items and groups is never held.

    >>> z = torch.tensor([[0.0], [1.0], [8.0], [9.0]])
    >>> kmeans(z, groups=2, start=torch.tensor([[0.0], [1.0]])).assigned.tolist()
    [0, 0, 1, 1]
    """
    _check(z, groups, start, rounds, restarts)
    dtype = torch.promote_types(z.dtype, torch.float32)
    # The products below lose digits far from the origin, so the items are centred.
    middle = z.to(dtype).mean(0)
    points = z.to(dtype) - middle
    generator = torch.Generator().manual_seed(seed)
    best: Grouping | None = None
    for _ in range(restarts):
        if isinstance(start, Tensor):
            first = start.to(points) - middle
        else:
            draw = _spread if start == "k-means++" else _random
            first = draw(points, groups, generator)
        grouping = _lloyd(points, first, rounds)
        if best is None or grouping.inertia < best.inertia:
            best = grouping
    assert best is not None  # at least one restart
    return best._replace(centres=(best.centres + middle).to(z.dtype if z.is_floating_point() else dtype))


def _check(z: Tensor, groups: int, start: Start | Tensor, rounds: int, restarts: int) -> None:
    if z.ndim != 2:
        raise SettingError(f"expected embeddings of shape (n, d) to group, got {tuple(z.shape)}")
    if not 1 <= groups <= len(z):
        raise SettingError(f"asked for {groups} groups of {len(z)} items; ask for 1 to {len(z)}")
    if rounds < 1 or restarts < 1:
        raise SettingError(f"expected at least one round and one restart, got {rounds} and {restarts}")
    if isinstance(start, Tensor):
        if start.shape != (groups, z.shape[1]):
            shapes = f"({groups}, {z.shape[1]}), got {tuple(start.shape)}"
            raise SettingError(f"expected centres to start from of shape {shapes}")
        if restarts > 1:
            raise SettingError(
                f"expected 1 restart with given centres, got {restarts}: every restart gives the same groups"
            )
    elif start not in ("k-means++", "random"):
        raise SettingError(f'expected start "k-means++", "random" or the centres, got "{start}"')
    if not z.isfinite().all():
        raise SettingError("an embedding is not finite (NaN or infinite); look at the items it came from")


def _random(points: Tensor, groups: int, generator: torch.Generator) -> Tensor:
    """Different items, all equally likely."""
    return points[torch.randperm(len(points), generator=generator)[:groups].to(points.device)]


def _spread(points: Tensor, groups: int, generator: torch.Generator) -> Tensor:
    """Items drawn one after the other, with probabilities in proportion to the squared distance to the
    nearest drawn item.

    Of several drawn, the one with the least inertia is taken, as in scikit-learn.
    """
    drawn = 2 + int(math.log(groups))
    lengths = points.square().sum(1)
    chances = torch.rand(groups, drawn, generator=generator, dtype=torch.double).to(points.device)
    latest = int(chances[0, 0] * len(points))
    chosen, squares = [latest], _squares(points, lengths, torch.tensor([latest], device=points.device))[0]
    for chance in chances[1:]:
        summed = squares.cumsum(0, dtype=torch.double)
        drawn_items = torch.searchsorted(summed, chance * summed[-1], right=True).clamp_(max=len(points) - 1)
        left = torch.minimum(squares, _squares(points, lengths, drawn_items))
        best = int(left.sum(1).argmin())
        chosen.append(int(drawn_items[best]))
        squares = left[best]
    return points[chosen]


def _squares(points: Tensor, lengths: Tensor, chosen: Tensor) -> Tensor:
    """The squared distance of every point to a few of them: (chosen, n), exactly 0 to itself."""
    squares = torch.addmm(lengths, points[chosen], points.T, alpha=-2).add_(lengths[chosen, None])
    return squares.clamp_(min=0).scatter_(1, chosen[:, None], 0)


def _lloyd(points: Tensor, centres: Tensor, rounds: int) -> Grouping:
    """In turns: centres move to the means of their items, and items to their nearest centres."""
    centres = centres.clone()
    assigned, closeness = _nearest(points, centres)
    touched = torch.ones(len(centres), dtype=torch.bool, device=points.device)
    settled, done = False, 0
    while done < rounds and not settled:
        before = _without_empty(points, assigned, closeness, touched)
        _move(points, before, centres, touched)
        assigned, closeness = _follow(points, before, closeness, centres, touched)
        done += 1
        changed = assigned != before
        touched.zero_()
        touched[assigned[changed]] = True
        touched[before[changed]] = True
        settled = not bool(changed.any())
    inertia = sum(
        float((points[rows] - centres[assigned[rows]]).double().square().sum()) for rows in _strips(points)
    )
    return Grouping(assigned, centres, inertia, done, settled)


def _move(points: Tensor, assigned: Tensor, centres: Tensor, touched: Tensor) -> None:
    """The centres of the touched groups to the means of their items, in place; an empty one stays."""
    rows = touched[assigned].nonzero().flatten()
    sums = torch.zeros(centres.shape, dtype=torch.double, device=points.device)
    sums.index_add_(0, assigned[rows], points[rows].double())
    sizes = assigned.bincount(minlength=len(centres))
    moving = touched & (sizes > 0)
    centres[moving] = (sums[moving] / sizes[moving, None]).to(centres.dtype)


def _follow(
    points: Tensor, assigned: Tensor, closeness: Tensor, centres: Tensor, touched: Tensor
) -> tuple[Tensor, Tensor]:
    """The nearest centre of each item after the touched ones moved.

    An item whose own centre stayed can only change to a centre that moved. After a few rounds this leaves
    little to compute.
    """
    assigned, closeness = assigned.clone(), closeness.clone()
    affected = touched[assigned]
    rows = affected.nonzero().flatten()
    assigned[rows], closeness[rows] = _nearest(points[rows], centres)
    moved = touched.nonzero().flatten()
    rows = (~affected).nonzero().flatten()
    if len(moved) and len(rows):
        which, value = _nearest(points[rows], centres[moved])
        nearer = (value > closeness[rows]) | ((value == closeness[rows]) & (moved[which] < assigned[rows]))
        assigned[rows[nearer]], closeness[rows[nearer]] = moved[which[nearer]], value[nearer]
    return assigned, closeness


def _without_empty(points: Tensor, assigned: Tensor, closeness: Tensor, touched: Tensor) -> Tensor:
    """Each empty group gets the item furthest from its centre, from a group that has others."""
    sizes = assigned.bincount(minlength=len(touched))
    empty = (sizes == 0).nonzero().flatten().tolist()
    if not empty:
        return assigned
    assigned, members = assigned.clone(), sizes.tolist()
    lengths = points.square().sum(1)
    squares = lengths - 2 * closeness
    # An item on its centre, up to rounding, cannot make a group of its own.
    apart = squares > 64 * torch.finfo(points.dtype).eps * lengths
    for index in squares.argsort(descending=True, stable=True).tolist():
        if not empty or not apart[index]:
            break
        old = int(assigned[index])
        if members[old] > 1:
            new = empty.pop(0)
            members[old] -= 1
            assigned[index] = new
            touched[[old, new]] = True
    return assigned


def _nearest(points: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest centre of each point and how close it is: <x, c> - ‖c‖²/2 is highest for the nearest."""
    which = torch.empty(len(points), dtype=torch.int64, device=points.device)
    closeness = torch.empty(len(points), dtype=points.dtype, device=points.device)
    penalty = -centres.square().sum(1) / 2
    for rows in _strips(points):
        height = len(points[rows])
        width = max(1, PAIRS.get(points.device.type, PAIRS["other"]) // max(1, height))
        for left in range(0, len(centres), width):
            block = slice(left, left + width)
            value, index = torch.addmm(penalty[block], points[rows], centres[block].T).max(1)
            if left:
                # Blocks come in order, so the first of equals stays.
                better = value > closeness[rows]
                value = torch.where(better, value, closeness[rows])
                index = torch.where(better, index + left, which[rows])
            which[rows], closeness[rows] = index, value
    return which, closeness


def _strips(points: Tensor) -> list[slice]:
    height = STRIP if points.device.type == "cpu" else 16 * STRIP
    return [slice(top, top + height) for top in range(0, len(points), height)]
