"""The Mahalanobis distance against the quadratic form."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import Euclidean, Mahalanobis


def some(count, *, seed, dimension=4):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, dimension, dtype=torch.double, generator=generator)


@pytest.mark.parametrize("rank", [None, 1, 3, 4])
def test_agrees_with_the_quadratic_form(rank):
    similarity = Mahalanobis(dimension=4, rank=rank).double()
    with torch.no_grad():
        similarity.map.copy_(some(rank or 4, seed=3))
    matrix = similarity.map.T @ similarity.map
    a, b = some(3, seed=1), some(5, seed=2)
    expected = torch.stack([torch.stack([-((x - y) @ matrix @ (x - y)).sqrt() for y in b]) for x in a])
    torch.testing.assert_close(similarity.score_all(a, b), expected)
    torch.testing.assert_close(similarity(a, b[:3]), expected.diagonal())


def test_starts_as_the_euclidean_distance():
    a, b = some(3, seed=1), some(5, seed=2)
    for similarity in (Mahalanobis(dimension=4), Mahalanobis(dimension=4, rank=4)):
        assert torch.equal(similarity.score_all(a, b), Euclidean().score_all(a, b))
    low = Mahalanobis(dimension=4, rank=2)
    assert torch.equal(low.score_all(a, b), Euclidean().score_all(a[:, :2], b[:, :2]))


def test_learns_which_coordinates_tell_two_kinds_apart():
    """The first coordinate is noise and the second says the kind: one shrinks, the other is stretched."""
    similarity = Mahalanobis(dimension=2)
    optimiser = torch.optim.SGD(similarity.parameters(), lr=0.1)
    z = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.5]])
    for _ in range(5):
        scores = similarity.score_all(z, z)
        optimiser.zero_grad()
        (scores[0, 2] - scores[0, 1]).relu().backward()
        optimiser.step()
    assert similarity.map[0, 0] < 1 < similarity.map[1, 1]


@pytest.mark.parametrize("rank", [0, 5])
def test_refuses_an_impossible_rank(rank):
    with pytest.raises(SettingError, match=f"from 1 to the dimension, 4; got {rank}"):
        Mahalanobis(dimension=4, rank=rank)
