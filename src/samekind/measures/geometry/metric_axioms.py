"""Is it a metric? How often, and how far, a learned distance breaks what a metric promises.

``distances`` is (n, n); entry (a, b) is the distance from a to b, which may differ from the one from b to a.
In a metric the distance of an item to itself is 0, both directions are equal, and no detour is shorter: all
breaches are 0.

Monteiro et al., "An end-to-end approach for the verification problem: learning the right distance", ICML
2020.
"""

from typing import NamedTuple

import torch
from torch import Tensor

BINS = 30


class Breaches(NamedTuple):
    """How far something is from 0, over many cases; the histogram is a density, its area 1."""

    mean: float
    deviation: float
    median: float
    most: float
    cases: int
    edges: Tensor  # (bins + 1,)
    density: Tensor  # (bins,)


class MetricAxioms(NamedTuple):
    """The three promises, each by its breaches."""

    self_distance: Breaches  # D(a, a)
    asymmetry: Breaches  # |D(a, b) - D(b, a)|
    triangle: Breaches  # max(D(b, c) - D(a, b) - D(a, c), 0)


def metric_breaches(distances: Tensor, *, most_triples: int = 10_000_000, seed: int = 0) -> MetricAxioms:
    """The self-distances, the asymmetry of all pairs, and the triangle breaches of triples of items.

    A triple is three different items, in each of its six orders. For symmetric distances each value then
    appears twice, which changes no share. If there are more than ``most_triples``, that many are drawn at
    random, with repetition, by the ``seed``; the largest breach is then the largest of the sample. Memory is
    at most three times 8 bytes per triple. Fewer than three items raise a ValueError.

    >>> line = torch.tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> found = metric_breaches(line)
    >>> found.asymmetry.most, found.triangle.most, found.triangle.cases
    (0.0, 1.0, 6)
    """
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1] or len(distances) < 3:
        raise ValueError(f"expected distances (n, n) of three items or more, got {tuple(distances.shape)}")
    if not distances.isfinite().all():
        raise ValueError("expected finite distances, got NaN or infinity")
    if most_triples < 1:
        raise ValueError(f"expected to look at one triple or more, got most_triples={most_triples}")
    checked, count = distances.detach().double(), len(distances)
    earlier = torch.triu_indices(count, count, 1, device=checked.device)
    both_ways = checked[earlier[0], earlier[1]] - checked[earlier[1], earlier[0]]
    fits = count * (count - 1) * (count - 2) <= most_triples
    triangle = _all_triples(checked) if fits else _some_triples(checked, most_triples, seed)
    return MetricAxioms(_breaches(checked.diagonal()), _breaches(both_ways.abs()), _breaches(triangle))


def _all_triples(distances: Tensor) -> Tensor:
    """The breaches of every ordered triple (a, b, c), a by a."""
    breaches = []
    for corner in range(len(distances)):
        other_corners = torch.arange(len(distances), device=distances.device) != corner
        legs = distances[corner, other_corners]
        detour = distances[other_corners][:, other_corners] - (legs[:, None] + legs)
        apart = ~torch.eye(len(legs), dtype=torch.bool, device=distances.device)
        breaches.append(detour[apart].clamp(min=0))
    return torch.cat(breaches)


def _some_triples(distances: Tensor, most: int, seed: int) -> Tensor:
    """The breaches of random ordered triples of different items."""
    count, generator = len(distances), torch.Generator().manual_seed(seed)
    breaches = []
    for start in range(0, most, 2**20):
        size = min(2**20, most - start)
        a, b, c = (torch.randint(count - less, (size,), generator=generator) for less in range(3))
        # b is drawn from count - 1 places and skips a; c from count - 2 and skips both, the smaller one
        # first.
        b = b + (b >= a)
        low, high = torch.minimum(a, b), torch.maximum(a, b)
        c = c + (c >= low)
        c = c + (c >= high)
        a, b, c = (corner.to(distances.device) for corner in (a, b, c))
        breaches.append((distances[b, c] - distances[a, b] - distances[a, c]).clamp(min=0))
    return torch.cat(breaches)


def _breaches(values: Tensor) -> Breaches:
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    counts = torch.histc(values.cpu(), bins=BINS, min=low, max=high)
    width = (high - low) / BINS
    ordered = values.sort().values
    # The mean of the two middle values; torch's median takes the lower one.
    median = (ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2
    return Breaches(
        float(values.mean()),
        float(values.std(correction=0)),
        float(median),
        float(values.max()),
        len(values),
        torch.linspace(low, high, BINS + 1, dtype=torch.float64),
        counts / (len(values) * width),
    )
