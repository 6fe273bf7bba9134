"""Breaches of the metric axioms against a triple loop, and for matrices that are metrics, or are not."""

import itertools
import statistics

import numpy as np
import pytest
import torch

from samekind.measures.geometry import metric_breaches


def drawn(count=7, seed=0):
    return torch.rand(count, count, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def breaches_by_hand(distances):
    count = range(len(distances))
    own = [float(distances[a, a]) for a in count]
    ways = [abs(float(distances[a, b] - distances[b, a])) for a, b in itertools.combinations(count, 2)]
    detours = [
        max(float(distances[b, c] - distances[a, b] - distances[a, c]), 0.0)
        for a, b, c in itertools.permutations(count, 3)
    ]
    return own, ways, detours


def test_the_numbers_are_those_of_the_loops():
    distances = drawn()
    for result, values in zip(metric_breaches(distances), breaches_by_hand(distances), strict=True):
        assert result.mean == pytest.approx(statistics.mean(values))
        assert result.deviation == pytest.approx(statistics.pstdev(values))
        assert result.median == pytest.approx(statistics.median(values))
        assert result.most == pytest.approx(max(values))
        assert result.cases == len(values)
        density, edges = np.histogram(values, bins=30, density=True)
        np.testing.assert_allclose(result.edges, edges, atol=1e-12)
        np.testing.assert_allclose(result.density, density, atol=1e-9)


def test_a_metric_breaks_nothing():
    points = torch.randn(9, 3, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    result = metric_breaches((points[:, None] - points).norm(dim=2))
    for value in result:
        assert value.most == pytest.approx(0, abs=1e-12)


def test_squared_distances_break_the_triangle_alone():
    points = torch.tensor([[0.0], [1.0], [2.0]])
    result = metric_breaches((points - points.T).square())
    assert (result.self_distance.most, result.asymmetry.most) == (0, 0)
    # 4 from end to end, 1 + 1 by the middle: 2 too far, in the two orders of the ends, of six triples.
    assert result.triangle.most == 2
    assert result.triangle.mean == pytest.approx(2 * 2 / 6)


def test_a_histogram_of_one_value_still_has_an_area_of_one():
    result = metric_breaches(1 - torch.eye(4)).self_distance
    assert (result.mean, result.median, result.most, result.deviation) == (0, 0, 0, 0)
    assert float((result.density * result.edges.diff()).sum()) == pytest.approx(1)


def test_a_sample_of_triples_is_fair_and_fixed_by_its_seed():
    distances = drawn(6)
    every = metric_breaches(distances).triangle
    one, again, other = (
        metric_breaches(torch.block_diag(distances), most_triples=119, seed=seed).triangle
        for seed in (0, 0, 1)
    )
    assert one.cases == 119
    assert one.mean == again.mean != other.mean
    # Many draws of few: 119 is one less than all, so they are drawn, and each triple as often as any other.
    means = [metric_breaches(distances, most_triples=119, seed=seed).triangle.mean for seed in range(200)]
    assert statistics.mean(means) == pytest.approx(every.mean, rel=0.03)
    assert max(means) <= every.most


def test_a_sampled_triple_never_meets_itself():
    """Were two of the three the same, the huge self-distance would be a breach."""
    distances = torch.ones(5, 5) + 1e6 * torch.eye(5)
    assert metric_breaches(distances, most_triples=50).triangle.most == 0


@pytest.mark.parametrize(
    ("distances", "says"),
    [
        (torch.ones(2, 2), r"three items or more, got \(2, 2\)"),
        (torch.ones(3, 4), r"got \(3, 4\)"),
        (torch.full((3, 3), torch.nan), "finite distances"),
    ],
)
def test_refuses_invalid_distances(distances, says):
    with pytest.raises(ValueError, match=says):
        metric_breaches(distances)


def test_refuses_zero_triples():
    with pytest.raises(ValueError, match="most_triples=0"):
        metric_breaches(torch.ones(3, 3), most_triples=0)
