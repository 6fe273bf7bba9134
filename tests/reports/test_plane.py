"""The plane: neighbours stay neighbours, the seed decides, and odd shapes are no trouble."""

import pytest
import torch

from samekind.data import clusters
from samekind.reports import plane


def test_classes_that_are_apart_stay_apart():
    items = clusters(classes=3, items=10, dimension=8, spread=0.05)
    points = plane(items.inputs, 0)
    assert points.shape == (30, 2)
    distances = torch.cdist(points, points).fill_diagonal_(torch.inf)
    assert (items.labels[distances.argmin(1)] == items.labels).all()


def test_the_same_seed_gives_the_same_points():
    z = clusters(classes=2, items=6, dimension=5).inputs
    assert torch.equal(plane(z, 3), plane(z, 3))


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11])
def test_few_items_are_enough(count):
    z = torch.randn(count, 5, generator=torch.Generator().manual_seed(0))
    points = plane(z, 0)
    assert points.shape == (count, 2)
    assert points.isfinite().all()


@pytest.mark.parametrize("count", [5, 20])
def test_two_dimensions_keep_every_distance(count):
    z = torch.randn(count, 2, generator=torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(torch.cdist(plane(z, 0), plane(z, 0)), torch.cdist(z, z))


def test_one_dimension_becomes_a_line():
    points = plane(torch.arange(12.0)[:, None], 0)
    assert (points[:, 1] == 0).all()
    torch.testing.assert_close(points[:, 0].diff().abs(), torch.ones(11).double())


def test_items_that_are_all_alike_fall_on_one_point():
    assert (plane(torch.ones(12, 4), 0) == 0).all()
