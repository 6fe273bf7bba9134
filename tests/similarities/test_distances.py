"""The three distances against the square root of a sum, and the classifiers they make."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.similarities import Cosine, Euclidean, LogAngle, LogDistance, SquaredEuclidean
from samekind.similarities.distances import unit_vectors

KINDS = [Euclidean, SquaredEuclidean, LogDistance]


@pytest.mark.parametrize("epsilon", [-1.0, math.inf, math.nan])
@pytest.mark.parametrize("kind", [LogDistance, LogAngle])
def test_an_epsilon_below_zero_is_refused(kind, epsilon):
    with pytest.raises(SettingError, match=f"a number from 0 up; got {epsilon}"):
        kind(epsilon=epsilon)
    assert kind(epsilon=0.0)(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])).isfinite()


def distance(a, b):
    """The definition."""
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a.tolist(), b.tolist(), strict=True)))


def some(count, *, seed):
    return torch.randn(count, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def unit(a):
    return a / math.sqrt(sum(x * x for x in a.tolist()))


@pytest.mark.parametrize(
    ("similarity", "score"),
    [
        (Euclidean(), lambda a, b: -distance(a, b)),
        (SquaredEuclidean(), lambda a, b: -(distance(a, b) ** 2)),
        (LogDistance(), lambda a, b: -math.log(distance(a, b))),
        (LogDistance(epsilon=0.5), lambda a, b: -0.5 * math.log(distance(a, b) ** 2 + 0.5)),
        (Euclidean(normalise=True), lambda a, b: -distance(unit(a), unit(b))),
        (SquaredEuclidean(normalise=True), lambda a, b: -(distance(unit(a), unit(b)) ** 2)),
        (LogDistance(normalise=True), lambda a, b: -math.log(distance(unit(a), unit(b)))),
    ],
)
def test_agrees_with_the_definition(similarity, score):
    a, b = some(4, seed=1), some(5, seed=2)
    expected = torch.tensor([[score(x, y) for y in b] for x in a], dtype=torch.double)
    torch.testing.assert_close(similarity.score_all(a, b), expected, atol=1e-7, rtol=1e-7)
    torch.testing.assert_close(similarity(a, b[:4]), expected[:, :4].diagonal(), atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_falls_as_two_items_part(kind):
    one_way = torch.linspace(0, 5, 20)[:, None] * torch.tensor([[0.6, 0.8]])
    scores = kind().score_all(torch.zeros(1, 2), one_way)[0]
    assert (scores.diff() < 0).all()


@pytest.mark.parametrize(
    ("similarity", "at_zero"),
    [
        (Euclidean(), 0.0),
        (SquaredEuclidean(), 0.0),
        (LogDistance(), 5 * math.log(10)),  # -½ ln 1e-10
        (LogDistance(epsilon=1e-4), 2 * math.log(10)),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_where_two_items_meet_the_score_is_known_and_the_gradient_zero(similarity, at_zero, dtype):
    for score in (similarity, similarity.score_all):
        a = torch.tensor([[0.5, -2.0]], dtype=dtype, requires_grad=True)
        b = a.detach().clone().requires_grad_()
        scores = score(a, b)
        scores.sum().backward()
        assert scores.dtype == dtype
        assert scores.item() == pytest.approx(at_zero, rel=4 * torch.finfo(dtype).eps)
        assert (a.grad == 0).all()
        assert (b.grad == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_near_neighbours_far_from_the_origin_keep_their_digits(kind):
    """The expanded square a² + b² - 2ab would give 0 here, or worse, a negative number."""
    a, b = torch.tensor([[1000.0, 1000.0]]), torch.tensor([[1000.0, 1000.0625]])
    exact = kind().score_all(torch.zeros(1, 2), torch.tensor([[0.0, 0.0625]]))
    assert torch.equal(kind().score_all(a, b), exact)
    assert torch.equal(kind()(a, b), exact[0])


@pytest.mark.parametrize("kind", KINDS)
def test_on_the_sphere_lengths_do_not_matter(kind):
    a, b = some(4, seed=1), some(5, seed=2)
    similarity = kind(normalise=True)
    torch.testing.assert_close(similarity.score_all(7 * a, b / 9), similarity.score_all(a, b))
    assert not torch.allclose(kind().score_all(7 * a, b / 9), kind().score_all(a, b))


@pytest.mark.parametrize("normalise", [False, True])
def test_the_squared_one_is_the_square_and_the_logarithm_the_logarithm(normalise):
    a, b = some(4, seed=1), some(5, seed=2)
    distances = -Euclidean(normalise=normalise).score_all(a, b)
    torch.testing.assert_close(SquaredEuclidean(normalise=normalise).score_all(a, b), -distances.square())
    torch.testing.assert_close(LogDistance(normalise=normalise).score_all(a, b), -distances.log())


def cost_of_the_nearer(similarity, scale, nearer, farther):
    """-log softmax(scale x score) of a class at one distance against a class at another."""
    item = torch.zeros(1, 2, dtype=torch.double)
    prototypes = torch.tensor([[nearer, 0.0], [0.0, farther]], dtype=torch.double)
    return -(scale * similarity.score_all(prototypes, item).T).log_softmax(1)[0, 0].item()


def test_the_distance_ratio_sees_proportions_and_the_square_does_not():
    assert math.exp(-cost_of_the_nearer(LogDistance(), 2, 1, 2)) == pytest.approx(0.8, abs=1e-9)
    assert cost_of_the_nearer(LogDistance(), 2, 1, 2) == pytest.approx(0.2231436, abs=1e-7)
    assert cost_of_the_nearer(LogDistance(), 2, 2, 4) == pytest.approx(0.2231436, abs=1e-7)
    squared = cost_of_the_nearer(SquaredEuclidean(), 1, 1, 2)
    assert math.exp(-squared) == pytest.approx(0.952574, abs=1e-6)
    assert squared == pytest.approx(0.0485874, abs=1e-7)
    assert cost_of_the_nearer(SquaredEuclidean(), 1, 2, 4) == pytest.approx(6.14419e-06, rel=1e-5)


def places(seed, classes, dimension):
    """Prototypes at least 1 apart, and a direction of length 1."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(classes + 1, dimension, generator=generator, dtype=torch.double)
    prototypes, direction = drawn[:-1], drawn[-1] / drawn[-1].norm()
    return prototypes / torch.pdist(prototypes).min(), direction


def ratio_at(point, prototypes, exponent):
    """δ of every class at a point."""
    scores = LogDistance(epsilon=0.0).score_all(prototypes, point[None]).T
    return (exponent * scores).softmax(1)[0]


ANYWHERE = {
    "seed": st.integers(0, 10**6),
    "classes": st.integers(2, 6),
    "dimension": st.integers(1, 5),
    "exponent": st.floats(0.5, 10),
}


@given(**ANYWHERE, step=st.sampled_from([1e-2, 1e-4, 1e-8]))
@effort(max_examples=30, deadline=None)
def test_near_a_prototype_the_ratio_is_sure_of_its_class(seed, classes, dimension, exponent, step):
    """The limits (7) and (8) of Kim's paper II: 1 for the own class and 0 for others, from any side."""
    prototypes, direction = places(seed, classes, dimension)
    near = ratio_at(prototypes[0] + step * direction, prototypes, exponent)
    others = (classes - 1) * (step / (1 - step)) ** exponent  # all of them are 1 - step away or farther
    assert near[0] >= 1 / (1 + others) - 1e-9
    assert near[1:].max() <= others + 1e-9
    nearer = ratio_at(prototypes[0] + step / 10 * direction, prototypes, exponent)
    assert nearer[0] >= near[0] - 1e-9


@given(**ANYWHERE, factor=st.floats(0.01, 100))
@effort(max_examples=20, deadline=None)
def test_the_ratio_of_a_rescaled_space_is_the_same(seed, classes, dimension, exponent, factor):
    prototypes, direction = places(seed, classes, dimension)
    point = prototypes[0] + 0.3 * direction
    torch.testing.assert_close(
        ratio_at(factor * point, factor * prototypes, exponent), ratio_at(point, prototypes, exponent)
    )


@given(**ANYWHERE)
@effort(max_examples=20, deadline=None)
def test_far_away_the_ratio_is_unsure(seed, classes, dimension, exponent):
    prototypes, direction = places(seed, classes, dimension)
    even = torch.full((classes,), 1 / classes, dtype=torch.double)
    torch.testing.assert_close(ratio_at(1e9 * direction, prototypes, exponent), even, atol=1e-6, rtol=0)


def test_far_away_a_softmax_of_squares_is_surer_than_at_its_prototype():
    prototypes, points = torch.eye(2).double(), torch.tensor([[1.0, 0.0], [2.0, -1.0], [4.0, -3.0]]).double()
    chances = SquaredEuclidean().score_all(prototypes, points).T.softmax(1)[:, 0]
    assert 0.88 < chances[0] < 0.89 < chances[1] < chances[2] < 1


@pytest.mark.parametrize("exponent", [1.0, 2.0, 7.389])
def test_the_scale_is_the_exponent_of_the_ratio(exponent):
    distances = [0.5, 1.5, 3.0]
    prototypes = torch.tensor([[value, 0.0] for value in distances], dtype=torch.double)
    scores = LogDistance().score_all(prototypes, torch.zeros(1, 2, dtype=torch.double)).T
    powers = [value**-exponent for value in distances]
    expected = torch.tensor([power / sum(powers) for power in powers], dtype=torch.double)
    torch.testing.assert_close((exponent * scores).softmax(1)[0], expected, atol=1e-8, rtol=1e-8)


def test_two_classes_in_one_place_share_the_probability():
    prototypes = torch.tensor([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]])
    probabilities = (2 * LogDistance().score_all(prototypes, prototypes[:1]).T).softmax(1)[0]
    torch.testing.assert_close(probabilities, torch.tensor([0.5, 0.5, 0.0]), atol=1e-6, rtol=0)


@pytest.mark.parametrize("scale", [1.0, 2.0, 10.0])
def test_on_the_circle_the_likeliest_point_of_the_ratio_is_the_prototype(scale):
    """Unlike the softmax over cosines. The log-odds are compared: probabilities round to 1."""
    angles = torch.arange(3600, dtype=torch.double) * 2 * math.pi / 3600
    circle = torch.stack([angles.cos(), angles.sin()], dim=1)
    prototypes = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.double)
    scores = scale * LogDistance(normalise=True).score_all(prototypes, circle)
    best = circle[(scores[0] - scores[1]).argmax()]
    torch.testing.assert_close(best, prototypes[0])


def test_a_chord_follows_from_the_cosine():
    a, b = some(4, seed=1), some(5, seed=2)
    cosines = Cosine().score_all(a, b)
    chords = SquaredEuclidean(normalise=True).score_all(a, b)
    torch.testing.assert_close(chords, 2 * cosines - 2)
    ratio = LogDistance(normalise=True, epsilon=1e-12).score_all(a, b)
    torch.testing.assert_close(ratio, -0.5 * (2 - 2 * cosines + 1e-12).log())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_unit_vectors_have_length_1_and_a_zero_vector_stays_one(dtype):
    """Large and small ones too: in float16 the square of 300 is no number, and that of 0.0001 is 0."""
    z = torch.tensor([[3.0, 4.0], [300.0, -400.0], [0.0003, 0.0004], [0.0, 0.0]]).to(dtype)
    units = unit_vectors(z)
    assert units.dtype == dtype
    expected = torch.tensor([[0.6, 0.8], [0.6, -0.8], [0.6, 0.8], [0.0, 0.0]]).to(dtype)
    torch.testing.assert_close(units, expected, rtol=0.01, atol=0)
