"""Two-covariance PLDA against the densities of stacked Gaussian vectors."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from samekind.errors import DataError, SettingError
from samekind.similarities import TwoCovariance, score_enrolled
from samekind.similarities.covariances import class_statistics, shrunk


def some(sizes=(9, 1, 4, 7, 2, 12), dimension=3, *, seed=0):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    means = 2 * torch.randn(len(sizes), dimension, generator=generator)
    stretch = torch.randn(dimension, dimension, generator=generator)
    return 1 + means[labels] + torch.randn(len(labels), dimension, generator=generator) @ stretch, labels


def model_of(z, labels, share):
    statistics = class_statistics(z, labels)
    covariances = shrunk(statistics.within, share), shrunk(statistics.between, share)
    return statistics.mean.numpy(), *(covariance.numpy() for covariance in covariances)


def density(items, mean, within, between):
    """ln p of items (k, d) of one class."""
    count = len(items)
    covariance = np.kron(np.ones((count, count)), between) + np.kron(np.eye(count), within)
    return multivariate_normal(np.tile(mean, count), covariance).logpdf(items.flatten())


def ratio(enrolled, item, model):
    """ln p(all | one class) - ln p(enrolled | one class) - ln p(item)."""
    together = np.concatenate([enrolled, item[None]])
    return density(together, *model) - density(enrolled, *model) - density(item[None], *model)


@pytest.fixture
def fitted():
    z, labels = some()
    return TwoCovariance(dimension=3, shrinkage=0.3).double().fit(z, labels), model_of(z, labels, 0.3)


def test_two_items_score_their_log_likelihood_ratio(fitted):
    similarity, model = fitted
    a, b = some(seed=1)[0][:4].double(), some(seed=2)[0][:5].double()
    expected = [[ratio(x[None].numpy(), y.numpy(), model) for y in b] for x in a]
    torch.testing.assert_close(similarity.score_all(a, b), torch.tensor(expected))
    torch.testing.assert_close(similarity(a, b[:4]), torch.tensor(expected).diagonal())


@pytest.mark.parametrize("count", [1, 2, 7])
def test_an_enrolment_counts_its_items(fitted, count):
    """The model needs no more of an enrolment than its mean and how many items it has."""
    similarity, model = fitted
    examples, b = some(seed=3)[0][:count].double(), some(seed=2)[0][:5].double()
    scores = score_enrolled(similarity, examples.mean(0, keepdim=True), b, torch.tensor([count]))
    expected = [ratio(examples.numpy(), y.numpy(), model) for y in b]
    torch.testing.assert_close(scores[0], torch.tensor(expected))
    if count == 1:
        torch.testing.assert_close(scores, similarity.score_all(examples, b))


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_a_change_of_the_coordinates_changes_no_score(seed):
    """The model has no axes, no origin and no unit of its own, shrunk or not."""
    generator = torch.Generator().manual_seed(seed)
    z, labels = some(seed=seed)
    rotation = torch.linalg.qr(torch.randn(3, 3, generator=generator).double()).Q
    scores = []
    for items in (z.double(), 5 * z.double() @ rotation + torch.randn(3, generator=generator)):
        similarity = TwoCovariance(dimension=3, shrinkage=0.3).double().fit(items, labels)
        scores.append(similarity.score_all(items[:9], items[9:]))
    torch.testing.assert_close(*scores, atol=1e-6, rtol=1e-6)


def test_the_projection_is_that_of_linear_discriminant_analysis():
    """scikit-learn's, with classes of one size: the same subspace."""
    z, labels = some((10,) * 5, dimension=7)
    similarity = TwoCovariance(dimension=7, rank=4, shrinkage=0.0).double().fit(z, labels)
    peer = LinearDiscriminantAnalysis(solver="eigen", n_components=4).fit(z.numpy(), labels.numpy())
    ours = torch.linalg.qr(similarity.projection.T).Q
    theirs = torch.linalg.qr(torch.from_numpy(peer.scalings_[:, :4]).double()).Q
    torch.testing.assert_close(ours @ ours.T, theirs @ theirs.T, atol=1e-3, rtol=1e-3)


def test_a_rank_needs_more_classes():
    with pytest.raises(DataError, match="6 classes differ in at most 5 directions; got a rank of 6"):
        TwoCovariance(dimension=9, rank=6).fit(*some(dimension=9))


def test_very_many_items_are_the_limit(fitted):
    similarity, _ = fitted
    z = some(seed=4)[0].double()
    many, unknown = (score_enrolled(similarity, z[:3], z, torch.tensor([n] * 3)) for n in (10**9, 0))
    torch.testing.assert_close(many, unknown, atol=1e-6, rtol=1e-6)
    mixed = score_enrolled(similarity, z[:3], z, torch.tensor([0, 1, 5]))
    torch.testing.assert_close(mixed[0], unknown[0])
    torch.testing.assert_close(mixed[1], similarity.score_all(z[1:2], z)[0])


def test_inner_products_of_mapped_vectors_are_the_scores(fitted):
    similarity, _ = fitted
    a, b = some(seed=5)[0].double(), some(seed=6)[0].double()
    products = similarity.mapped(a, "first") @ similarity.mapped(b, "second").T
    torch.testing.assert_close(products, similarity.score_all(a, b))
    torch.testing.assert_close(products.diagonal(), similarity(a, b))


@pytest.mark.parametrize("method", ["moments", "likelihood"])
@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("rank", [None, 4])
def test_tells_classes_apart_that_it_was_not_fitted_to(method, normalise, rank):
    """With fewer items than dimensions, and a class of one item."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(30) % 8
    labels[0] = 8
    subspace = torch.randn(4, 50, generator=generator)
    means = torch.randn(20, 4, generator=generator) @ subspace
    z = means[labels] + 0.7 * torch.randn(30, 50, generator=generator)
    chosen = {"method": method, "normalise": normalise, "rank": rank, "shrinkage": 0.5}
    similarity = TwoCovariance(dimension=50, **chosen).fit(z, labels)
    new = torch.arange(40) % 10
    scores = similarity.score_all(*[means[10 + new] + 0.7 * torch.randn(40, 50, generator=generator)] * 2)
    same = new[:, None] == new
    assert scores.isfinite().all()
    assert scores[same].mean() > 0 > scores[~same].mean()
    assert similarity.mapped(z, "first").shape == (30, (rank or 50) + 2)


def test_a_prototype_of_many_is_as_long_as_the_model_expects():
    """On the sphere the mean of items is shorter than each; the scores with counts know that."""
    z, labels = some((20, 20, 20, 20), 6, seed=7)
    similarity = TwoCovariance(dimension=6, normalise=True, shrinkage=0.2).fit(z, labels)
    prototypes = torch.stack([z[labels == label].mean(0) for label in range(4)])
    scores = score_enrolled(similarity, prototypes, z, torch.full((4,), 20))
    assert (scores.argmax(0) == labels).float().mean() > 0.8


def test_identical_items_of_a_class_can_be_fitted_to():
    z = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    scores = TwoCovariance(dimension=2).fit(z, torch.tensor([0, 0, 1])).score_all(z, z)
    assert scores.isfinite().all()
    assert scores[0, 1] > scores[0, 2]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"rank": 4}, "from 1 to the dimension, 3; got 4"),
        ({"shrinkage": 1.5}, "from 0 to 1; got 1.5"),
        ({"iterations": 0}, "at least one iteration, got 0"),
    ],
)
def test_refuses_impossible_settings(chosen, message):
    with pytest.raises(SettingError, match=message):
        TwoCovariance(dimension=3, **chosen)
