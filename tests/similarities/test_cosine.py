"""Cosine against the definition, and the softmax over it on the circle and the sphere."""

import math

import pytest
import torch

from samekind.similarities import Cosine, SquaredEuclidean
from samekind.similarities.distances import unit_vectors


def some(count, *, seed):
    return torch.randn(count, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def test_agrees_with_the_definition():
    a = torch.tensor([[3.0, 4.0], [1.0, 0.0], [-2.0, 0.0], [1.0, 1.0]])
    b = torch.tensor([[5.0, 0.0], [0.0, 7.0], [9.0, 0.0], [2.0, 2.0]])
    torch.testing.assert_close(Cosine()(a, b), torch.tensor([0.6, 0.0, -1.0, 1.0]))
    for i in range(4):
        for j in range(4):
            by_hand = sum(x * y for x, y in zip(a[i].tolist(), b[j].tolist(), strict=True))
            by_hand /= math.hypot(*a[i].tolist()) * math.hypot(*b[j].tolist())
            assert Cosine().score_all(a, b)[i, j].item() == pytest.approx(by_hand, abs=1e-6)


def test_does_not_see_lengths():
    a, b = some(4, seed=1), some(5, seed=2)
    torch.testing.assert_close(Cosine().score_all(1000 * a, b / 1000), Cosine().score_all(a, b))


def test_a_zero_vector_scores_zero_with_everything():
    a, b = torch.zeros(2, 3).double(), torch.cat([some(3, seed=1), torch.zeros(1, 3)])
    assert (Cosine().score_all(a, b) == 0).all()
    assert (Cosine()(b, torch.zeros(4, 3).double()) == 0).all()


def on_the_circle(steps=3600):
    angles = torch.arange(steps, dtype=torch.double) * 2 * math.pi / steps
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def probability_of_the_first(prototypes, items, scale):
    return (scale * Cosine().score_all(prototypes, items).T).softmax(1)[:, 0]


def test_on_the_circle_the_likeliest_point_is_not_the_prototype():
    """The known flaw of the normalised softmax: leaning away from the rival pays more than being right."""
    prototypes = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.double)
    circle = on_the_circle()
    probabilities = probability_of_the_first(prototypes, circle, scale=2)
    half = math.sqrt(0.5)
    torch.testing.assert_close(circle[probabilities.argmax()], torch.tensor([-half, half]).double())
    assert probabilities.max().item() == pytest.approx(0.944193, abs=1e-6)
    assert probability_of_the_first(prototypes, prototypes, scale=2)[0].item() == pytest.approx(
        0.880797, abs=1e-6
    )


def test_on_the_sphere_neither():
    prototypes = torch.tensor([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.double)
    best = torch.tensor([[-1.0, -1.0, 2.0]], dtype=torch.double)
    top = probability_of_the_first(prototypes, best, scale=2)
    assert top.item() == pytest.approx(0.8527, abs=1e-4)
    at_the_prototype = probability_of_the_first(prototypes, prototypes[:1], scale=2)
    assert at_the_prototype.item() == pytest.approx(0.7870, abs=1e-4)
    anywhere = some(2000, seed=0)
    elsewhere = probability_of_the_first(prototypes, anywhere, scale=2)
    bottom = probability_of_the_first(prototypes, -best, scale=2)
    assert (elsewhere <= top + 1e-12).all()
    assert (elsewhere >= bottom - 1e-12).all()


@pytest.mark.parametrize("scale", [0.5, 2.0, 30.0])
def test_softmax_over_cosines_is_softmax_over_squared_chords_at_half_the_scale(scale):
    a, b = some(4, seed=1), some(9, seed=2)
    by_angle = (scale * Cosine().score_all(a, b)).softmax(0)
    by_chord = (scale / 2 * SquaredEuclidean(normalise=True).score_all(a, b)).softmax(0)
    torch.testing.assert_close(by_angle, by_chord)


@pytest.mark.parametrize(
    ("dtype", "powers"),
    [(torch.float32, (-36, -30, -15, 0, 19, 25, 38)), (torch.float64, (-300, -200, -20, 0, 160, 300))],
)
def test_the_lengths_do_not_matter_however_short_or_long(dtype, powers):
    """Their squares would be 0 or infinite."""
    a, b = (z / z.abs().max() for z in (some(4, seed=0), some(4, seed=1)))
    expected = Cosine().score_all(a, b)
    tolerance = {"rtol": 0, "atol": 1e-6 if dtype == torch.float32 else 1e-14}
    for power in powers:
        scaled = (a * 10.0**power).to(dtype)
        for scores, right in (
            (Cosine().score_all(scaled, b.to(dtype)), expected),
            (Cosine()(scaled, b.to(dtype)), expected.diagonal()),
            (Cosine().score_all(scaled, scaled), Cosine().score_all(a, a)),
        ):
            torch.testing.assert_close(scores.double(), right, **tolerance)


def test_ordinary_lengths_beside_extreme_ones_keep_their_bits():
    z = torch.randn(50, 33, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.normalize(z, dim=-1)
    assert torch.equal(unit_vectors(z), expected)
    z[7], z[8] = 0, 1e-30
    assert torch.equal(unit_vectors(z)[9:], expected[9:])
    assert torch.equal(unit_vectors(z)[7], torch.zeros(33))


def test_the_gradient_of_a_short_vector_is_that_of_a_long_one_by_their_lengths():
    weights, long = some(3, seed=1), some(3, seed=0).requires_grad_()
    short = (long.detach() * 2.0**-500).requires_grad_()
    for z in (long, short):
        (Cosine()(z, weights)).sum().backward()
    torch.testing.assert_close(short.grad * 2.0**-500, long.grad)
