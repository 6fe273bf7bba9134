"""Residuals from prototypes and re-weighted directions, against loops and scikit-learn."""

import pytest
import torch
from sklearn.decomposition import PCA

from samekind.errors import DataError, SettingError
from samekind.measures.geometry.directions import (
    PrincipalDirections,
    evening_weights,
    principal_directions,
    residual_features,
    reweighted,
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_residuals_are_from_the_nearest_vector_of_ones_own_class():
    z, labels, prototypes = drawn(7, 3), torch.tensor([0, 1, 1, 0, 2, 2, 0]), drawn(3, 4, 3, seed=1)
    result = residual_features(z, labels, prototypes)
    for item, label, residual in zip(z, labels, result, strict=True):
        nearest = min(prototypes[label], key=lambda vector: float((item - vector).norm()))
        torch.testing.assert_close(residual, item - nearest)


def test_residuals_from_class_means_forget_the_class():
    labels = torch.arange(3).repeat(10)
    z = drawn(30, 2) + 10 * torch.eye(3, 2)[labels]
    means = torch.stack([z[labels == label].mean(0) for label in range(3)])[:, None]
    left = residual_features(z, labels, means)
    for label in range(3):
        torch.testing.assert_close(left[labels == label].mean(0), torch.zeros(2), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("z", "labels", "prototypes", "says"),
    [
        (drawn(3, 2), torch.zeros(3, dtype=torch.long), drawn(2, 2), r"prototypes \(classes, k, d\)"),
        (drawn(3, 2), torch.zeros(3, dtype=torch.long), drawn(2, 1, 3), r"prototypes \(classes, k, d\)"),
        (drawn(3, 2), torch.zeros(2, dtype=torch.long), drawn(2, 1, 2), "every embedding needs a label"),
        (drawn(3, 2), torch.tensor([0, 1, 2]), drawn(2, 1, 2), "0 to 1; got 0 to 2"),
        (drawn(3, 2), torch.tensor([0, -1, 1]), drawn(2, 1, 2), "0 to 1; got -1 to 1"),
    ],
)
def test_refuses_residuals_of_what_does_not_fit(z, labels, prototypes, says):
    with pytest.raises(DataError, match=says):
        residual_features(z, labels, prototypes)


@pytest.mark.parametrize("count", [None, 2])
def test_the_directions_are_those_of_scikit_learn(count):
    z = drawn(20, 4) * torch.tensor([3.0, 1.0, 2.0, 0.5]) + 5
    result, expected = principal_directions(z, count=count), PCA(count).fit(z.double().numpy())
    torch.testing.assert_close(result.mean.double(), torch.from_numpy(expected.mean_), atol=1e-5, rtol=1e-5)
    variances = torch.from_numpy(expected.explained_variance_)
    torch.testing.assert_close(result.deviations.double().square(), variances, atol=1e-4, rtol=1e-4)
    # A direction and its opposite are the same one.
    cosines = (result.directions.double() * torch.from_numpy(expected.components_)).sum(1).abs()
    torch.testing.assert_close(cosines, torch.ones_like(cosines), atol=1e-5, rtol=1e-5)


def test_weights_stretch_one_direction_after_the_other():
    z, other = drawn(12, 3), drawn(5, 3, seed=1)
    directions, weights = principal_directions(z), torch.tensor([0.0, 0.5, 2.0])
    expected = sum(
        weight * ((other - directions.mean) @ u)[:, None] * u
        for weight, u in zip(weights, directions.directions, strict=True)
    )
    torch.testing.assert_close(reweighted(other, directions, weights), expected)


def test_weights_of_one_only_centre_and_a_weight_of_zero_removes():
    z = drawn(12, 3) + 4
    directions = principal_directions(z)
    torch.testing.assert_close(reweighted(z, directions, torch.ones(3)), z - z.mean(0), atol=1e-5, rtol=1e-5)
    without = reweighted(z, directions, torch.tensor([0.0, 1.0, 1.0]))
    assert (without @ directions.directions[0]).abs().max() < 1e-5
    # Fewer items than dimensions: what varies is kept whole.
    few = drawn(3, 6)
    chosen = reweighted(few, principal_directions(few), torch.ones(3))
    torch.testing.assert_close(chosen, few - few.mean(0), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (torch.ones(2), r"one weight a direction, \(3,\), got \(2,\)"),
        (torch.tensor([1.0, -0.1, 1.0]), "0 or more; got -0.1"),
        (torch.tensor([1.0, torch.nan, 1.0]), "0 or more"),
    ],
)
def test_weights_are_one_a_direction_and_never_negative(weights, says):
    with pytest.raises(SettingError, match=says):
        reweighted(drawn(5, 3), principal_directions(drawn(5, 3)), weights)


@pytest.mark.parametrize("z", [drawn(1, 3), drawn(3), torch.full((3, 2), torch.nan)])
def test_directions_need_two_finite_embeddings(z):
    with pytest.raises(DataError, match="two finite embeddings"):
        principal_directions(z)


@pytest.mark.parametrize("count", [0, 4])
def test_there_are_no_more_directions_than_that(count):
    with pytest.raises(SettingError, match=f"1 to 3 directions; got {count}"):
        principal_directions(drawn(9, 3), count=count)


def test_evening_weights_divide_by_the_deviations_to_a_power():
    directions = PrincipalDirections(torch.zeros(3), torch.eye(3), torch.tensor([4.0, 1.0, 1e-9]))
    assert evening_weights(directions, power=0.5).tolist() == pytest.approx([1, 2, 0])
    assert evening_weights(directions, power=0).tolist() == [1, 1, 0]
    still = PrincipalDirections(torch.zeros(1), torch.eye(1), torch.zeros(1))
    assert evening_weights(still, power=1).tolist() == [0]
