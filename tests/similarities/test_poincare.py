"""The hyperbolic distance against its definition by gyrovectors, and at the places where that breaks down."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import Poincare

CURVATURES = [0.3, 1.0, 2.5]


def add(a, b, *, curvature=1.0):
    """The gyrovector sum of points (…, d): translation by a. Neither commutative nor associative."""
    product = (a * b).sum(-1, keepdim=True)
    first, second = a.square().sum(-1, keepdim=True), b.square().sum(-1, keepdim=True)
    above = (1 + 2 * curvature * product + curvature * second) * a + (1 - curvature * first) * b
    return above / (1 + 2 * curvature * product + curvature**2 * first * second)


def distance(a, b, *, curvature=1.0):
    """The hyperbolic distance of points (…, d) by its definition, (2/√c) artanh(√c |(-a) + b|)."""
    root = math.sqrt(curvature)
    length = torch.linalg.vector_norm(add(-a, b, curvature=curvature), dim=-1)
    return 2 / root * (root * length).clamp(max=1 - 1e-7).atanh()


def exponential_map(vector, at=None, *, curvature=1.0):
    """The point reached from ``at`` (default: the origin) along a tangent vector: (…, d) -> (…, d).

    With this map the origin's conformal factor of 2 is part of the distance: a vector of length r leads to a
    point at distance 2r.
    """
    root = math.sqrt(curvature)
    lengths = torch.linalg.vector_norm(vector, dim=-1, keepdim=True)
    lengths = lengths.clamp(min=1e-15)
    if at is None:
        return (root * lengths).tanh() / (root * lengths) * vector
    factor = 1 / (1 - curvature * at.square().sum(-1, keepdim=True))  # half the conformal factor at the point
    step = (root * factor * lengths).tanh() / (root * lengths) * vector
    return add(at, step, curvature=curvature)


def some(count, *, seed, length=1.0):
    return length * torch.randn(count, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def points(count, *, seed, curvature):
    return exponential_map(some(count, seed=seed, length=0.3), curvature=curvature)


def test_the_distance_of_a_half_from_the_origin():
    origin, half = torch.zeros(1, 2).double(), torch.tensor([[0.5, 0.0]]).double()
    assert distance(origin, half).item() == pytest.approx(2 * math.atanh(0.5))
    assert distance(origin, half).item() == pytest.approx(1.098612, abs=1e-6)
    tangent = torch.tensor([[math.atanh(0.5), 0.0]]).double()
    assert Poincare()(origin, tangent).item() == pytest.approx(-1.098612, abs=1e-6)


@pytest.mark.parametrize("curvature", CURVATURES)
@pytest.mark.parametrize("length", [1e-3, 0.5, 1.0])
def test_agrees_with_the_definition(curvature, length):
    a, b = some(4, seed=1, length=length), some(5, seed=2, length=length)
    similarity = Poincare(curvature=curvature, clip=1e-7)
    x, y = (exponential_map(value, curvature=curvature) for value in (a, b))
    expected = torch.stack(
        [torch.stack([-distance(one, other, curvature=curvature) for other in y]) for one in x]
    )
    torch.testing.assert_close(similarity.score_all(a, b), expected, atol=1e-9, rtol=1e-4)
    torch.testing.assert_close(similarity(a, b[:4]), expected[:, :4].diagonal(), atol=1e-9, rtol=1e-4)


@pytest.mark.parametrize("curvature", CURVATURES)
def test_is_a_metric_that_translations_keep(curvature):
    x, y, z = (points(20, seed=seed, curvature=curvature) for seed in (1, 2, 3))
    one_way = distance(x, y, curvature=curvature)
    torch.testing.assert_close(one_way, distance(y, x, curvature=curvature))
    assert (one_way <= distance(x, z, curvature=curvature) + distance(z, y, curvature=curvature) + 1e-9).all()
    moved = [add(z, value, curvature=curvature) for value in (x, y)]
    torch.testing.assert_close(distance(*moved, curvature=curvature), one_way, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("curvature", CURVATURES)
def test_the_sum_has_a_zero_and_an_inverse_and_stays_in_the_ball(curvature):
    x, y = points(20, seed=1, curvature=curvature), points(20, seed=2, curvature=curvature)
    zero = torch.zeros_like(x)
    torch.testing.assert_close(add(zero, x, curvature=curvature), x)
    torch.testing.assert_close(add(x, zero, curvature=curvature), x)
    torch.testing.assert_close(add(-x, add(x, y, curvature=curvature), curvature=curvature), y)
    assert (curvature * add(x, y, curvature=curvature).square().sum(-1) < 1).all()


def test_an_example_of_the_sum_to_check_by_eye():
    """On a line it is the sum of velocities: (0.5 + 0.25) / (1 + 0.125)."""
    total = add(torch.tensor([0.5, 0.0]), torch.tensor([0.25, 0.0]))
    torch.testing.assert_close(total, torch.tensor([0.75 / 1.125, 0.0]))


@pytest.mark.parametrize("curvature", CURVATURES)
def test_the_exponential_map_goes_as_far_as_the_vector_is_long(curvature):
    """At a point the length is measured there: λ|v|, λ = 2/(1 - c|x|²), which is 2 at the origin."""
    vectors, start = some(10, seed=1, length=0.3), points(10, seed=2, curvature=curvature)
    arrived = exponential_map(vectors, start, curvature=curvature)
    factor = 2 / (1 - curvature * start.square().sum(-1))
    expected = factor * vectors.norm(dim=-1)
    torch.testing.assert_close(distance(start, arrived, curvature=curvature), expected)
    origin = torch.zeros_like(start)
    torch.testing.assert_close(
        exponential_map(vectors, origin, curvature=curvature), exponential_map(vectors, curvature=curvature)
    )


def test_without_curvature_it_is_twice_the_euclidean_distance():
    a, b = some(4, seed=1), some(5, seed=2)
    torch.testing.assert_close(
        Poincare(curvature=1e-10).score_all(a, b), -2 * torch.cdist(a, b), atol=1e-6, rtol=1e-6
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_at_the_origin_the_gradient_is_that_of_the_euclidean_distance(dtype):
    """d(0, v) = 2|v|, so that moving the zero towards v gains 2 for each step."""
    for length in (0.0, 1e-20, 1e-8):
        a = torch.tensor([[length, 0.0]], dtype=dtype, requires_grad=True)
        Poincare()(a, torch.tensor([[0.3, 0.4]], dtype=dtype)).sum().backward()
        # The metric at the origin times the direction to v, both in the ball and in the tangent space.
        torch.testing.assert_close(a.grad, torch.tensor([[1.2, 1.6]], dtype=dtype), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("clip", [1e-5, 1e-2])
def test_nothing_lies_beyond_the_clip(clip):
    """A vector of any length goes as far as artanh(1 - clip) and no farther; along its direction."""
    limit = math.atanh(1 - clip)
    origin, direction = torch.zeros(1, 2), torch.tensor([[0.6, 0.8]])
    similarity = Poincare(clip=clip)
    reached = [similarity(origin, length * direction).item() for length in (limit, 10.0, 1e4, 1e15)]
    assert reached == pytest.approx([-2 * limit] * 4, rel=1e-5)
    torch.testing.assert_close(
        similarity(direction, 1e6 * direction), similarity(direction, limit * direction), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_border_has_finite_gradients(dtype):
    generator = torch.Generator().manual_seed(0)
    for length in (5.0, 7.0, 1e3, 1e15):
        z = (length * torch.randn(6, 4, generator=generator)).to(dtype).requires_grad_()
        other = torch.cat([z.detach()[:3], -z.detach()[3:]]).requires_grad_()
        for scores in (Poincare()(z, other), Poincare().score_all(z, other)):
            assert scores.isfinite().all()
            slopes = torch.autograd.grad(scores.sum(), (z, other))
            assert all(slope.isfinite().all() for slope in slopes)


def test_float32_is_right_far_out():
    """Where the definition in float32 knows nothing any more: 1 - |x|² of 1e-4 has three digits left."""
    a, b = some(6, seed=1, length=3.0), some(6, seed=2, length=3.0)
    exact = Poincare().score_all(a, b)
    torch.testing.assert_close(
        Poincare().score_all(a.float(), b.float()), exact.float(), rtol=1e-4, atol=1e-3
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"curvature": 0.0}, "positive number, got 0.0; 0 is Euclidean"),
        ({"curvature": -1.0}, "positive number, got -1.0"),
        ({"curvature": math.nan}, "positive number, got nan"),
        ({"clip": 0.0}, "between 0 and 1; got 0.0"),
        ({"clip": 1.0}, "between 0 and 1; got 1.0"),
    ],
)
def test_refuses_an_impossible_ball(arguments, says):
    with pytest.raises(SettingError, match=says):
        Poincare(**arguments)
