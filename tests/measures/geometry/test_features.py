"""What is asked of feature vectors, and their class means."""

import pytest
import torch

from samekind.measures.geometry.features import check_classes, check_features, class_centres


def test_class_means_are_those_of_a_loop_and_absent_classes_are_not_there():
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([9, 2, 2, 9, 4, 4, 4])
    centres = class_centres(features, labels, normalise=False)
    for row, name in enumerate((2, 4, 9)):
        members = [features[index].double() for index in range(7) if labels[index] == name]
        torch.testing.assert_close(centres.means[row], sum(members) / len(members))
        assert centres.counts[row] == len(members)
    torch.testing.assert_close(
        centres.class_means(torch.arange(7.0).double()), torch.tensor([1.5, 5.0, 1.5]).double()
    )


def test_on_the_sphere_lengths_are_one_and_nothing_stays_nothing():
    features = torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0], [0.0, -1e200]], dtype=torch.double)
    centres = class_centres(features, torch.tensor([0, 1, 1, 0]), normalise=True)
    expected = torch.tensor([[0.6, 0.8], [0.0, 0.0], [1.0, 0.0], [0.0, -1.0]]).double()
    torch.testing.assert_close(centres.features, expected)


@pytest.mark.parametrize(
    "features", [torch.empty(0, 3), torch.empty(3, 0), torch.ones(3), torch.ones(1, 1, 1)]
)
def test_refuses_features_that_are_not_a_matrix(features):
    with pytest.raises(ValueError, match=r"expected old of shape \(n, d\)"):
        check_features(features, name="old")


def test_the_error_counts_rows_that_are_not_finite():
    features = torch.tensor([[1.0, torch.nan], [torch.inf, torch.nan], [1.0, 1.0]])
    with pytest.raises(ValueError, match="expected finite features, got 2 of 3"):
        check_features(features)


@pytest.mark.parametrize("labels", [torch.tensor([0, 1]), torch.tensor([[0, 1, 1]])])
def test_refuses_missing_labels(labels):
    with pytest.raises(ValueError, match="expected one label an item"):
        check_classes(torch.ones(3, 2), labels)


@pytest.mark.parametrize("labels", [torch.tensor([0.0, 1.0]), torch.tensor([True, False])])
def test_refuses_labels_that_are_not_whole_numbers(labels):
    with pytest.raises(ValueError, match="expected whole numbers"):
        check_classes(torch.ones(2, 2), labels)


def test_refuses_a_single_class():
    with pytest.raises(ValueError, match="at least two classes, got 1"):
        class_centres(torch.ones(3, 2), torch.tensor([4, 4, 4]), normalise=True)
