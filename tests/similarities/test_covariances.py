"""Covariances within and between classes against loops; the most likely ones against the closed form."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import MultivariateNormal

from samekind.errors import DataError, SettingError
from samekind.similarities.covariances import (
    class_statistics,
    diagonalised,
    lower_root,
    most_likely,
    shrunk,
)


def drawn(sizes, dimension=3, *, seed=0, noise=1.0):
    """Items from the model: the mean of a class plus noise."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    stretch = torch.linspace(1, 3, dimension).double().diag()
    means = torch.randn(len(sizes), dimension, generator=generator, dtype=torch.double) @ stretch
    errors = torch.randn(len(labels), dimension, generator=generator, dtype=torch.double)
    return means[labels] + noise * errors, labels


def random_covariance(dimension, seed):
    root = torch.randn(dimension, dimension + 2, generator=torch.Generator().manual_seed(seed)).double()
    return root @ root.T / dimension


def likelihood(z, labels, within, between, mean):
    """ln p of all items: those of one class are stacked into one Gaussian vector."""
    total = 0.0
    for label in labels.unique():
        items = z[labels == label]
        count = len(items)
        covariance = torch.kron(torch.ones(count, count).double(), between)
        covariance += torch.kron(torch.eye(count).double(), within)
        total += float(MultivariateNormal(mean.repeat(count), covariance).log_prob(items.flatten()))
    return total


def test_statistics_agree_with_a_loop():
    z, labels = drawn([3, 1, 4])
    labels = torch.tensor([7, 2, 9])[labels]  # any whole numbers
    statistics = class_statistics(z.float(), labels)
    scatter, means = torch.zeros(3, 3).double(), []
    for label in (2, 7, 9):
        items = z[labels == label]
        means.append(items.mean(0))
        for item in items:
            scatter += torch.outer(item - means[-1], item - means[-1])
    assert statistics.sizes.tolist() == [1, 3, 4]
    torch.testing.assert_close(statistics.means, torch.stack(means), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(statistics.scatter, scatter, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(statistics.within, scatter / (8 - 3), atol=1e-5, rtol=1e-5)
    assert statistics.scatter.dtype == torch.double


def test_between_classes_is_unbiased():
    """On average over many draws: what the noise adds to the means is taken off."""
    estimates = [class_statistics(*drawn([2, 5] * 40, 2, seed=seed, noise=2.0)) for seed in range(30)]
    plain = torch.stack([(s.means - s.mean).T @ (s.means - s.mean) / 80 for s in estimates]).mean(0)
    mean = torch.stack([s.between for s in estimates]).mean(0)
    added = plain - mean
    torch.testing.assert_close(
        added.diagonal(), torch.full((2,), 4 * (0.5 + 0.2) / 2).double(), atol=0.1, rtol=0
    )


@pytest.mark.parametrize(
    ("z", "labels", "message"),
    [
        (torch.zeros(3, 2), torch.tensor([0, 1, 2]), "3 items of 3 classes"),
        (torch.zeros(3, 2), torch.tensor([0, 0, 0]), "3 items of 1 classes"),
        (torch.zeros(3, 2), torch.tensor([0, 0]), r"got \(3, 2\) and \(2,\)"),
        (torch.full((3, 2), torch.nan), torch.tensor([0, 0, 1]), "not finite"),
    ],
)
def test_refuses_what_says_nothing(z, labels, message):
    with pytest.raises(DataError, match=message):
        class_statistics(z, labels)


def test_a_covariance_without_an_inverse_is_refused_and_shrinkage_gives_it_one():
    flat = torch.diag(torch.tensor([1.0, 0.0, 3.0])).double()
    with pytest.raises(SettingError, match="choose a shrinkage above 0"):
        lower_root(flat - 1e-3 * torch.eye(3).double())
    expected = torch.tensor([0.5 + 2 / 3, 2 / 3, 1.5 + 2 / 3]).double()
    torch.testing.assert_close(shrunk(flat, 0.5).diagonal(), expected)
    assert lower_root(shrunk(flat, 0.5)).isfinite().all()


@settings(max_examples=25)
@given(dimension=st.integers(1, 8), seed=st.integers(0, 1000))
def test_both_covariances_become_diagonal(dimension, seed):
    within, between = random_covariance(dimension, seed), random_covariance(dimension, seed + 1)
    basis, spread = diagonalised(within, between)
    identity = torch.eye(dimension).double()
    torch.testing.assert_close(basis @ within @ basis.T, identity, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(basis @ between @ basis.T, spread.diag(), atol=1e-6, rtol=1e-6)
    assert (spread.diff() <= 0).all()


def test_the_most_likely_of_equal_classes_are_the_moments():
    """With classes of one size the maximum is known in closed form; here from a start far away."""
    z, labels = drawn([6] * 40)
    assert torch.linalg.eigvalsh(class_statistics(z, labels).between).min() > 0.1
    statistics = class_statistics(z, labels)
    identity = torch.eye(3).double()
    within, between = most_likely(statistics, identity, identity, iterations=300)
    torch.testing.assert_close(within, statistics.within, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(between, statistics.between, atol=1e-6, rtol=1e-6)


def test_each_step_makes_unequal_classes_likelier():
    z, labels = drawn([1, 2, 3, 5, 8, 2, 4, 1])
    statistics = class_statistics(z, labels)
    within = between = torch.eye(3).double()
    last = -math.inf
    for _ in range(12):
        now = likelihood(z, labels, within, between, statistics.mean)
        assert now > last
        last = now
        within, between = most_likely(statistics, within, between, iterations=1)
