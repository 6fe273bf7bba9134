"""What can matter to a Voronoi cell: the data within reach, found once."""

import math

import pytest
import torch

from samekind.attacks.regions import Neighbours, neighbours
from samekind.attacks.regions.neighbours import apart
from samekind.errors import DataError

DATA = torch.rand(30, 2, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("order", [1, 2, math.inf])
def test_the_data_within_reach(order):
    near = Neighbours(DATA).within(DATA[:5], reach=0.6, order=order)
    for row, item in enumerate(DATA[:5]):
        distances = sorted(float((item - other).norm(p=order)) for other in DATA)
        expected = [distance for distance in distances if 0 < distance <= 0.6]
        told = near.distances[row][near.distances[row].isfinite()]
        assert told.sort().values.tolist() == pytest.approx(expected, abs=1e-6)
    assert len(near.points) == int(near.distances.isfinite().any(0).sum())


def test_an_item_is_looked_up_once(monkeypatch):
    known = Neighbours(DATA)
    first = known.within(DATA[:8], reach=1.0, order=2)
    monkeypatch.setattr(neighbours, "apart", None)
    again = known.within(DATA[[5, 2]], reach=1.0, order=2)
    for row, earlier in ((0, 5), (1, 2)):
        both = (values[values.isfinite()] for values in (again.distances[row], first.distances[earlier]))
        torch.testing.assert_close(*both)


def test_the_memory_has_an_end(monkeypatch):
    monkeypatch.setattr(neighbours, "MEMORY", 10)
    monkeypatch.setattr(neighbours, "BLOCK", 60)
    known = Neighbours(DATA)
    for batch in (DATA, DATA[:20], DATA.flip(0), DATA):
        near = known.within(batch, reach=math.inf, order=1)
    assert len(near.distances) == 30
    for _ in range(2):
        near = known.within(DATA, reach=math.inf, order=1)
        torch.testing.assert_close(
            near.distances.nan_to_num(posinf=0.0),
            apart(*[DATA.flatten(1).double()] * 2, 1),
            atol=1e-6,
            rtol=0,
        )


def test_no_item_has_no_neighbours():
    near = Neighbours(DATA).within(DATA[:0], reach=1.0, order=2)
    assert near.distances.shape == (0, 0)
    assert near.points.shape == (0, 6)


def test_what_is_refused():
    with pytest.raises(DataError, match=r"finite floats.*got torch.int64 of shape \(3,\)"):
        Neighbours(torch.arange(3))
    with pytest.raises(DataError, match=r"shape \(4,\) have no neighbours among data of shape \(2, 3\)"):
        Neighbours(DATA).within(torch.zeros(2, 4), reach=1.0, order=2)
