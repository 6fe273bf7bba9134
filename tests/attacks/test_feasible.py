"""Points in a region and valid at once, where coming back into one leaves the other."""

import pytest
import torch

from samekind.attacks import PICTURES, Limits
from samekind.attacks.feasible import feasible
from samekind.attacks.regions import L1, L2, Linf, Neighbours, Voronoi

GENERATOR = torch.Generator().manual_seed(0)
DATA = torch.rand(40, 3, generator=GENERATOR).double()
MOVED = DATA + torch.randn(40, 3, generator=GENERATOR).double()


@pytest.mark.parametrize("ball", [L1, L2, Linf])
def test_a_cell_and_a_range(ball):
    region = Voronoi(ball(0.8), Neighbours(DATA))
    if ball is L2:  # more than a projection is needed
        alone = region.project(PICTURES.clip(region.project(MOVED, DATA), DATA), DATA)
        assert ((alone < 0) | (alone > 1)).any()
    x = feasible(MOVED, DATA, region, PICTURES.clip)
    assert region.contains(x, DATA).all()
    assert 0 <= x.min() <= x.max() <= 1
    assert ((x - DATA).norm(dim=1) > 0.02).all()


def test_a_cell_with_whole_and_fixed_columns():
    table = (DATA * 10).round()
    limits = Limits(
        0.0, 10.0, integer=torch.tensor([True, True, False]), fixed=torch.tensor([False, True, False])
    )
    region = Voronoi(L2(6.0), Neighbours(table))
    x = feasible(table + 8 * (MOVED - DATA), table, region, limits.clip)
    assert region.contains(x, table).all()
    assert torch.equal(x[:, 0], x[:, 0].round())
    assert torch.equal(x[:, 1], table[:, 1])
    assert not torch.equal(x[:, 2], table[:, 2])


def test_a_point_that_is_both_stays():
    inside = DATA + 0.001
    region = Voronoi(L2(0.5), Neighbours(DATA))
    limits = Limits(-1.0, 2.0)
    assert torch.equal(feasible(inside, DATA, region, limits.clip), inside)
