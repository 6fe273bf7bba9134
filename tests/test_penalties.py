"""Penalties against loops, and what all of them promise."""

import inspect
import itertools
import math

import pytest
import torch

from samekind import penalties
from samekind.errors import SettingError
from samekind.penalties import distortion, energy_confusion, norm, sparse_centres, spread, vicreg

OFFERED = ("z", "y", "prototypes", "distances")


def some(count, *, seed=0, dtype=torch.double):
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(seed)).to(dtype)


def some_distances(classes, *, dtype=torch.double):
    """Distances of a path: 1 from one class to the next."""
    place = torch.arange(classes, dtype=dtype)
    return (place[:, None] - place).abs()


def given(penalty, vectors):
    """A penalty as the training step calls it, the vectors being items of three classes or prototypes."""
    offered = {
        "z": vectors,
        "y": torch.arange(len(vectors)) % 3,
        "prototypes": vectors[:, None],
        "distances": some_distances(len(vectors), dtype=torch.float32),
    }
    names = inspect.signature(penalty).parameters
    return penalty(**{name: value for name, value in offered.items() if name in names})


@pytest.fixture(params=penalties.__all__)
def penalty(request):
    return getattr(penalties, request.param)


def test_every_penalty_says_by_name_what_it_needs(penalty):
    for name, parameter in inspect.signature(penalty).parameters.items():
        if parameter.default is parameter.empty:
            assert name in OFFERED
        else:
            assert parameter.kind is parameter.KEYWORD_ONLY


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_every_penalty_is_one_finite_number_with_a_gradient(penalty, dtype):
    for count in (0, 1, 2, 9):
        vectors = some(count, dtype=dtype).requires_grad_()
        value = given(penalty, vectors)
        value.backward()
        assert value.shape == ()
        assert value.dtype == dtype
        assert value.isfinite()
        assert vectors.grad.isfinite().all()


@pytest.mark.parametrize("factor", [1.0, 1e-15, 1e15])
def test_every_penalty_takes_copies_zero_vectors_and_any_length(penalty, factor):
    vectors = torch.cat([some(2), some(2), torch.zeros(2, 4)]).float().mul(factor).requires_grad_()
    value = given(penalty, vectors)
    value.backward()
    assert value.isfinite()
    assert vectors.grad.isfinite().all()


def test_every_penalty_takes_equal_vectors(penalty):
    vectors = torch.ones(6, 4).requires_grad_()
    given(penalty, vectors).backward()
    assert vectors.grad.isfinite().all()


def test_every_penalty_has_the_gradient_it_claims(penalty):
    assert torch.autograd.gradcheck(lambda vectors: given(penalty, vectors), some(6).requires_grad_())


@pytest.mark.parametrize("name", ["norm", "spread"])
def test_no_penalty_of_items_alone_cares_about_their_order(name):
    penalty = getattr(penalties, name)
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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_spread_keeps_its_digits_in_half_precision(dtype):
    """Of a tight batch, whose distances are rounding itself once the directions are rounded."""
    z = (torch.ones(6, 4) + 0.02 * some(6, dtype=torch.float)).to(dtype)
    torch.testing.assert_close(spread(z), spread(z.double()).to(dtype))


def test_spread_counts_a_zero_vector_as_the_centre_of_the_sphere():
    z = torch.tensor([[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]])
    for dtype in (torch.double, torch.float16):
        assert spread(z.to(dtype)).item() == -1


def test_descending_the_spread_moves_neighbours_apart():
    z = torch.tensor([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.3], [-1.0, -0.3]]).requires_grad_()
    before = spread(z)
    before.backward()
    with torch.no_grad():
        after = spread(z - 0.05 * z.grad)
    assert after < before


def test_norm_is_the_mean_length():
    assert norm(torch.tensor([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]])).item() == pytest.approx(2)
    assert norm(torch.zeros(0, 3)).item() == 0


def confusion_by_hand(z, y):
    """For every two classes the mean squared distance of their items; then the mean over classes."""
    costs = []
    for one, other in itertools.combinations(sorted(set(y.tolist())), 2):
        pairs = list(itertools.product(z[y == one].tolist(), z[y == other].tolist()))
        costs.append(sum(math.dist(a, b) ** 2 for a, b in pairs) / len(pairs))
    return sum(costs) / len(costs)


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1, 5, 5, 5], [2, 1, 0, 2, 2, 1, 9]])
def test_energy_confusion_agrees_with_the_definition(labels):
    z, y = some(len(labels), seed=len(labels)), torch.tensor(labels)
    assert energy_confusion(z, y).item() == pytest.approx(confusion_by_hand(z, y))


def test_energy_confusion_on_the_sphere_does_not_see_lengths():
    z, y = some(6), torch.tensor([0, 0, 1, 1, 2, 2])
    penalty = energy_confusion(z, y, normalise=True)
    assert penalty.item() == pytest.approx(confusion_by_hand(z / z.norm(dim=1, keepdim=True), y), rel=1e-5)
    torch.testing.assert_close(
        energy_confusion(z * torch.arange(1.0, 7.0)[:, None], y, normalise=True), penalty
    )


def test_energy_confusion_needs_two_classes_to_confuse():
    assert energy_confusion(some(4), torch.zeros(4, dtype=torch.long)).item() == 0
    assert energy_confusion(torch.ones(4, 2), torch.arange(4)).item() == 0


def test_energy_confusion_draws_classes_together():
    z, y = some(6).requires_grad_(), torch.tensor([0, 0, 1, 1, 2, 2])
    energy_confusion(z, y).backward()
    with torch.no_grad():
        nearer = z - 0.1 * z.grad
        gaps = [math.dist(v[y == 0].mean(0).tolist(), v[y == 1].mean(0).tolist()) for v in (z, nearer)]
    assert gaps[1] < gaps[0]


def distortion_by_hand(prototypes, distances):
    """The sum at many scales, each pair by itself; the least of them."""
    vectors = [(c, v) for c, several in enumerate(prototypes.tolist()) for v in several]
    ratios = [
        math.dist(v, w) / float(distances[c, d])
        for (c, v), (d, w) in itertools.permutations(vectors, 2)
        if distances[c, d] > 0
    ]
    scales = [step / 1000 for step in range(1, 4000)]
    return min(sum((s * ratio - 1) ** 2 for ratio in ratios) / len(ratios) for s in scales)


@pytest.mark.parametrize(("classes", "count"), [(2, 1), (5, 1), (3, 2)])
def test_distortion_agrees_with_the_definition(classes, count):
    prototypes, distances = some(classes * count).view(classes, count, 4), some_distances(classes)
    expected = distortion_by_hand(prototypes, distances)
    assert distortion(prototypes, distances).item() == pytest.approx(expected, abs=1e-5)


def test_distortion_on_the_sphere_does_not_see_lengths():
    prototypes, distances = some(4)[:, None], some_distances(4)
    longer = prototypes * torch.arange(1.0, 5.0)[:, None, None]
    on_the_sphere = prototypes / prototypes.norm(dim=-1, keepdim=True)
    expected = distortion(on_the_sphere, distances)
    torch.testing.assert_close(distortion(longer, distances, normalise=True), expected)
    assert not torch.isclose(distortion(longer, distances), expected)


def test_distortion_has_known_extremes():
    line = 7 * torch.arange(4.0)[:, None, None] * torch.ones(1, 1, 3)
    assert distortion(line, some_distances(4)).item() == pytest.approx(0, abs=1e-6)
    assert distortion(torch.ones(4, 1, 3), some_distances(4)).item() == pytest.approx(1)
    assert distortion(line, torch.zeros(4, 4)).item() == 0


def test_refuses_distances_of_other_classes():
    with pytest.raises(SettingError, match=r"\(3, 3\).*got \(2, 2\)"):
        distortion(torch.zeros(3, 1, 4), torch.ones(2, 2))


def vicreg_by_hand(z, y, invariance, variance, covariance, epsilon):
    """The three parts, number by number."""
    items, (count, dimension) = z.tolist(), z.shape
    means = [sum(item[k] for item in items) / count for k in range(dimension)]

    def together(j, k):
        return sum((item[j] - means[j]) * (item[k] - means[k]) for item in items) / (count - 1)

    pairs = [(a, b) for a, b in itertools.combinations(range(count), 2) if y[a] == y[b]]
    squares = [sum((items[a][k] - items[b][k]) ** 2 for k in range(dimension)) for a, b in pairs]
    alike = sum(squares) / len(pairs) / dimension if pairs else 0.0
    vary = sum(max(0.0, 1 - math.sqrt(together(k, k) + epsilon)) for k in range(dimension)) / dimension
    apart = sum(together(j, k) ** 2 for j, k in itertools.permutations(range(dimension), 2)) / dimension
    return invariance * alike + variance * vary + covariance * apart


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]])
def test_vicreg_agrees_with_the_definition(labels):
    z, y = 0.7 * some(6), torch.tensor(labels)
    weights = {"invariance": 3.0, "variance": 2.0, "covariance": 5.0, "epsilon": 0.01}
    assert vicreg(z, y, **weights).item() == pytest.approx(vicreg_by_hand(z, y, **weights))


def test_vicreg_is_the_peers_with_each_item_and_its_other_view():
    """The second view of an item is the other item of its class, so both views are the whole batch."""
    peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
    z, y = (0.7 * some(8)).requires_grad_(), torch.arange(4).repeat(2)
    ours, theirs = vicreg(z, y), peers.VICRegLoss()(z, ref_emb=z.roll(4, 0))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(torch.autograd.grad(ours, z), torch.autograd.grad(theirs, z))


def test_sparse_centres_agree_with_the_definition():
    prototypes = some(12).reshape(3, 4, 4)
    chords = [
        (one / one.norm() - other / other.norm()).norm().item()
        for centres in prototypes
        for one, other in itertools.combinations(centres, 2)
    ]
    assert sparse_centres(prototypes).item() == pytest.approx(sum(chords) / len(chords) / 2)
    assert sparse_centres(prototypes[:, :1]).item() == 0


def test_sparse_centres_are_the_regulariser_of_the_peer():
    peers = pytest.importorskip("pytorch_metric_learning.regularizers", reason="needs the extra `peers`")
    prototypes = some(12).reshape(3, 4, 4).requires_grad_()
    theirs = peers.SparseCentersRegularizer(3, 4)(prototypes.flatten(0, 1))
    ours = sparse_centres(prototypes)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(value, prototypes)[0] for value in (ours, theirs)]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)


def test_centres_that_met_cost_nothing_and_have_a_finite_gradient():
    prototypes = torch.ones(2, 3, 4).requires_grad_()
    value = sparse_centres(prototypes)
    value.backward()
    assert value.item() == 0
    assert prototypes.grad.isfinite().all()
