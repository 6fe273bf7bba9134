"""Names on a map, each near its place where it hides the fewest dots."""

import numpy as np

#: Points between a place and a name beside it; the first `NEAR` of them if names may be left out.
DISTANCES, NEAR = (3.0, 8.0, 14.0, 22.0, 32.0, 44.0), 3
#: Points a dot is wide to each side.
RADIUS = 2.0
#: The sides of a place a name can be on, and halfway between them: one of the two numbers is always 1 or -1.
SIDES = np.array(
    [(x, y) for x in (-1, -0.5, 0, 0.5, 1) for y in (-1, -0.5, 0, 0.5, 1) if 1 in (abs(x), abs(y))]
)
#: A distance from the place, in points, that is as bad as hiding a whole class.
FAR = 160.0
#: The cost of overlapping another name, or the edge of the map.
COLLISION = 2.0
#: The share of a class that a name may hide if names may be left out.
LITTLE = 0.2


def placed(
    places: np.ndarray,
    sizes: np.ndarray,
    dots: np.ndarray,
    weights: np.ndarray,
    area: np.ndarray,
    *,
    all_of_them: bool,
) -> np.ndarray:
    """How far to move the middle of each name from its place, (n, 2); the first ones choose first.

    ``places`` and ``sizes`` (width, height) are of the names, ``dots`` (m, 2) what should be seen and
    ``weights`` (m,) what each is worth, 1 being a whole class; ``area`` (left, bottom, right, top) is the
    map. A name goes where it hides the least and is still near. Without room, it goes where it does the least
    harm if ``all_of_them`` are needed; else it is left out, and its move is NaN.
    """
    moves = np.full((len(places), 2), np.nan)
    taken = np.empty((0, 4))
    for index, (place, size) in enumerate(zip(places, sizes, strict=True)):
        distances = DISTANCES if all_of_them else DISTANCES[:NEAR]
        ways = np.vstack([np.zeros((1, 2)), *(SIDES * (size / 2 + distance) for distance in distances)])
        boxes = np.hstack([place + ways - size / 2, place + ways + size / 2])
        hidden = _inside(dots, boxes) @ weights
        collisions = _overlap(boxes, taken).sum(1) + _juts_out(boxes, area)
        costs = hidden + COLLISION * collisions + np.linalg.norm(ways, axis=1) / FAR
        if not all_of_them:
            costs[(collisions > 0) | (hidden > LITTLE)] = np.inf
        best = int(costs.argmin())
        if np.isfinite(costs[best]):
            moves[index] = ways[best]
            taken = np.vstack([taken, boxes[best]])
    return moves


def _inside(dots: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Which dots (m, 2) are at least partly hidden by which boxes (n, 4), as (n, m)."""
    after, before = dots + RADIUS > boxes[:, None, :2], dots - RADIUS < boxes[:, None, 2:]
    return np.asarray(after.all(2) & before.all(2))


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which boxes (n, 4) overlap which others (m, 4), as (n, m)."""
    one, other = boxes[:, None], others[None]
    return np.asarray(((one[..., :2] < other[..., 2:]) & (other[..., :2] < one[..., 2:])).all(2))


def _juts_out(boxes: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Which boxes (n, 4) are not entirely inside the area."""
    return np.asarray((boxes[:, :2] < area[:2]).any(1) | (boxes[:, 2:] > area[2:]).any(1))
