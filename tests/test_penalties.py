"""Penalties against loops, and what all of them promise."""

import math

import pytest
import torch

from samekind import penalties
from samekind.penalties import spread


def some(count, *, seed=0, dtype=torch.double):
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.fixture(params=penalties.__all__)
def penalty(request):
    return getattr(penalties, request.param)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_every_penalty_is_one_finite_number_with_a_gradient(penalty, dtype, count):
    z = some(count, dtype=dtype).requires_grad_()
    value = penalty(z)
    value.backward()
    assert value.shape == ()
    assert value.dtype == dtype
    assert value.isfinite()
    assert z.grad.isfinite().all()


def test_every_penalty_bears_copies_and_zero_vectors(penalty):
    z = torch.cat([some(2), some(2), torch.zeros(2, 4)]).requires_grad_()
    penalty(z).backward()
    assert z.grad.isfinite().all()


def test_every_penalty_has_the_gradient_it_claims(penalty):
    assert torch.autograd.gradcheck(penalty, some(6).requires_grad_())


def test_no_penalty_cares_about_the_order_of_items(penalty):
    torch.testing.assert_close(penalty(some(7).flip(0)), penalty(some(7)))


def nearest_by_hand(z):
    """The mean distance to the nearest other item, on the sphere."""
    points = [[x / math.hypot(*item) for x in item] for item in z.tolist()]
    return sum(
        min(math.dist(one, other) for j, other in enumerate(points) if j != i) for i, one in enumerate(points)
    ) / len(points)


@pytest.mark.parametrize("count", [2, 3, 10])
def test_spread_agrees_with_the_definition(count):
    z = some(count, seed=count)
    assert spread(z).item() == pytest.approx(-nearest_by_hand(z))


def test_spread_has_known_extremes():
    z = torch.tensor([[3.0, 0.0], [-0.1, 0.0]])
    assert spread(z).item() == pytest.approx(-2)
    assert spread(torch.cat([z, z])).item() == 0
    assert spread(z[:1]).item() == 0


def test_spread_does_not_see_lengths():
    z = some(5)
    torch.testing.assert_close(spread(z * torch.arange(1.0, 6.0)[:, None]), spread(z))


def test_descending_the_spread_moves_neighbours_apart():
    z = torch.tensor([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.3], [-1.0, -0.3]]).requires_grad_()
    before = spread(z)
    before.backward()
    with torch.no_grad():
        after = spread(z - 0.05 * z.grad)
    assert after < before
