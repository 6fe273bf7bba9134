"""Angles against the arccosine, at the ends where the arccosine fails, and as classifiers on the sphere."""

import math

import pytest
import torch

from samekind.similarities import Angle, LogAngle, LogDistance


def some(count, *, seed):
    return torch.randn(count, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def angle(a, b):
    """The definition."""
    product = sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))
    return math.acos(product / math.hypot(*a.tolist()) / math.hypot(*b.tolist()))


@pytest.mark.parametrize(
    ("similarity", "score"),
    [
        (Angle(), lambda a, b: -angle(a, b)),
        (LogAngle(), lambda a, b: -math.log(angle(a, b))),
        (LogAngle(epsilon=0.5), lambda a, b: -0.5 * math.log(angle(a, b) ** 2 + 0.5)),
    ],
)
def test_agrees_with_the_definition(similarity, score):
    a, b = some(4, seed=1), some(5, seed=2)
    expected = torch.tensor([[score(x, y) for y in b] for x in a], dtype=torch.double)
    torch.testing.assert_close(similarity.score_all(a, b), expected, atol=1e-8, rtol=1e-8)
    torch.testing.assert_close(similarity(a, b[:4]), expected[:, :4].diagonal(), atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("turn", [0.0, 1e-7, 1e-4, 1.0, math.pi - 1e-4, math.pi - 1e-6, math.pi])
def test_keeps_its_digits_from_end_to_end_in_float32(turn):
    """The arccosine of a float32 cosine knows no angle between 0 and 3e-4."""
    a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[math.cos(turn), math.sin(turn)]])
    expected = pytest.approx(-turn, rel=1e-6)
    if turn > 3:  # there float32 rounds b itself, by up to 1e-7
        expected = pytest.approx(-turn, abs=2.5e-7)
    assert Angle()(a, b).item() == expected
    assert Angle().score_all(a, b).item() == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    ("similarity", "same", "opposite"),
    [(Angle(), 0.0, -math.pi), (LogAngle(), 5 * math.log(10), -0.5 * math.log(math.pi**2 + 1e-10))],
)
def test_at_both_ends_the_score_is_known_and_the_gradient_zero(similarity, same, opposite, dtype):
    for score in (similarity, similarity.score_all):
        for sign, expected in ((1, same), (-1, opposite)):
            a = torch.tensor([[0.5, -2.0]], dtype=dtype, requires_grad=True)
            b = (sign * a.detach()).requires_grad_()
            scores = score(a, b)
            scores.sum().backward()
            assert scores.item() == pytest.approx(expected, rel=4 * torch.finfo(dtype).eps)
            assert a.grad.abs().max() < 1e-6
            assert b.grad.abs().max() < 1e-6


@pytest.mark.parametrize("turn", [1e-3, math.pi - 1e-3])
def test_near_the_ends_the_gradient_still_turns_at_unit_speed(turn):
    """On the circle an angle changes by as much as the item turns; float32 of the inputs allows 1e-4."""
    b = torch.tensor([[math.cos(turn), math.sin(turn)]], requires_grad=True)
    Angle()(torch.tensor([[1.0, 0.0]]), b).sum().backward()
    assert b.grad.norm().item() == pytest.approx(1, abs=2e-3)


def test_a_zero_vector_is_at_a_right_angle_to_all_but_another():
    a, b = torch.zeros(1, 3), torch.cat([torch.ones(1, 3), torch.zeros(1, 3)])
    scores = Angle().score_all(a, b)[0]
    assert scores[0].item() == pytest.approx(-math.pi / 2)
    assert scores[1].item() == 0


def test_lengths_do_not_matter():
    a, b = some(4, seed=1), some(5, seed=2)
    torch.testing.assert_close(Angle().score_all(7 * a, b / 9), Angle().score_all(a, b))


def test_an_arc_follows_from_its_chord():
    a, b = some(4, seed=1), some(5, seed=2)
    chords = (-LogDistance(normalise=True, epsilon=0.0).score_all(a, b)).exp()
    torch.testing.assert_close(-Angle().score_all(a, b), 2 * (chords / 2).asin())


PROTOTYPES = torch.tensor([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.double)


def sphere():
    return torch.nn.functional.normalize(some(60_000, seed=0), dim=1)


def test_on_the_sphere_the_likeliest_point_of_the_ratio_is_the_prototype():
    """The log-odds are compared, as probabilities round to 1; the exponent is 2."""
    points = torch.cat([PROTOTYPES[:1], sphere()])
    logits = 2 * LogAngle().score_all(PROTOTYPES, points)
    odds = logits[0] - logits[1:].logsumexp(0)
    assert odds.argmax() == 0


def test_on_the_sphere_the_likeliest_point_of_the_squared_angle_is_not():
    points = sphere()
    probabilities = (-Angle().score_all(PROTOTYPES, points).square()).softmax(0)[0]
    best, worst = points[probabilities.argmax()], points[probabilities.argmin()]
    assert probabilities.max().item() == pytest.approx(0.9602, abs=1e-3)
    torch.testing.assert_close(best, torch.tensor([-0.604, -0.604, 0.519]).double(), atol=0.03, rtol=0)
    torch.testing.assert_close(worst, -PROTOTYPES[0], atol=0.03, rtol=0)
