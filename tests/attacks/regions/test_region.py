"""What every region promises, held for all of ``regions.REGIONS``."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.attacks import regions
from samekind.attacks.regions.region import shared_draws
from samekind.errors import SettingError

DATA = torch.randn(100, 5, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
#: Name -> a region of the size 0.7 for items (n, 5).
MADE = {
    "L1": regions.L1(0.7),
    "L2": regions.L2(0.7),
    "Linf": regions.Linf(0.7),
    "Combined": regions.Combined(0.7, 0.3),
    "Hull": regions.Hull(0.7, 0.3),
    "Voronoi": regions.Voronoi(regions.L2(0.7), regions.Neighbours(DATA)),
    "Relative": regions.Relative(0.7),
    "Scaled": regions.Scaled(regions.L2(0.7), torch.tensor([0.5, 1.0, 2.0, 1.0, 3.0])),
}
#: Those that project to the nearest point.
NEAREST = ["L1", "L2", "Linf", "Combined", "Hull", "Relative"]
NUMBERS = st.lists(st.floats(-3, 3, width=32), min_size=5, max_size=5)


@pytest.fixture(params=regions.REGIONS)
def region(request):
    assert request.param in MADE, f"make a {request.param} in MADE of this file"
    return MADE[request.param]


def points(count, *, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(count, 5, generator=generator, dtype=torch.float64)


def test_a_projection_is_inside_and_stays(region):
    clean, x = points(200), points(200, seed=1, scale=2.0)
    projected = region.project(x, clean)
    assert region.contains(projected, clean).all()
    torch.testing.assert_close(region.project(projected, clean), projected)
    inside = region.contains(x, clean)
    assert torch.equal(region.project(x, clean)[inside], x[inside])
    assert not inside.all()


def test_the_clean_item_is_inside(region):
    clean = points(20)
    assert region.contains(clean, clean).all()
    assert (region.distance(clean, clean) == 0).all()


def test_a_start_is_inside_and_moves(region):
    clean, generator = points(20), torch.Generator().manual_seed(4)
    first, second = region.start(clean, generator), region.start(clean, generator)
    assert region.contains(first, clean).all()
    assert not torch.equal(first, second)
    again = region.start(clean[7:9], torch.Generator().manual_seed(4))
    torch.testing.assert_close(again, first[7:9])


def test_a_step_rises_by_the_size_one(region):
    gradient = points(50, seed=2)
    step = region.steepest(gradient)
    assert ((step * gradient).sum(1) > 0).all()
    torch.testing.assert_close(region.distance(step, torch.zeros_like(step)), torch.ones(50).double())
    assert (region.steepest(torch.zeros(2, 5)) == 0).all()


def test_another_size(region):
    larger = region.resized(2 * region.epsilon)
    assert larger.epsilon == 2 * region.epsilon
    assert type(larger) is type(region)
    clean, x = points(100), points(100, seed=1)
    assert larger.contains(region.project(x, clean), clean).all()


def test_items_of_any_shape(region):
    clean, x = points(12).reshape(4, 3, 5), points(12, seed=1).reshape(4, 3, 5)
    if region.__class__.__name__ in ("L1", "L2", "Linf"):
        flat = region.project(x.flatten(1), clean.flatten(1))
        torch.testing.assert_close(region.project(x, clean).flatten(1), flat)


@pytest.mark.parametrize("name", NEAREST)
@settings(max_examples=40)
@given(x=NUMBERS, clean=NUMBERS, seed=st.integers(0, 10**6))
def test_no_point_of_a_ball_is_nearer_than_the_projection(name, x, clean, seed):
    """Euclidean distance, against random points of the ball: the plain definition."""
    ball, x, clean = MADE[name], torch.tensor([x]).double(), torch.tensor([clean]).double()
    projected = ball.project(x, clean)
    others = ball.project(clean + points(300, seed=seed), clean.expand(300, -1))
    others = torch.cat([others, projected + 0.01 * points(300, seed=seed)])
    others = others[ball.contains(others, clean)]
    assert ((others - x).norm(dim=1) >= (projected - x).norm() - 1e-9).all()


def test_draws_are_shared_by_all_items():
    draws = shared_draws(torch.zeros(6, 2, 3), torch.Generator().manual_seed(0))
    assert draws.shape == (1, 2, 3)


@pytest.mark.parametrize("epsilon", [-0.1, float("nan")])
@pytest.mark.parametrize("ball", [regions.L1, regions.L2, regions.Linf])
def test_a_size_below_0_is_refused(ball, epsilon):
    with pytest.raises(SettingError, match="from 0 up"):
        ball(epsilon)


@pytest.mark.parametrize("name", ["L1", "L2", "Linf"])
def test_a_ball_of_size_0_is_the_item(name):
    clean, x = points(5), points(5, seed=1)
    torch.testing.assert_close(MADE[name].resized(0.0).project(x, clean), clean)
