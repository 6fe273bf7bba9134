"""The mean correlation with a tree: against SciPy's Spearman class by class, and the published ceiling."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from samekind.measures import chords, mean_correlation


def symmetric(seed, classes=7, whole=False):
    values = torch.rand(classes, classes, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    values = (4 * values).round() if whole else values
    return (values + values.T).fill_diagonal_(0)


def by_scipy(distances, in_tree, include_diagonal):
    values = []
    for place in range(len(distances)):
        rows = [row for row in range(len(distances)) if include_diagonal or row != place]
        if len(set(in_tree[rows, place].tolist())) > 1:
            values.append(spearmanr(distances[rows, place], in_tree[rows, place]).statistic)
    return math.tanh(np.arctanh(values).mean())


@given(seed=st.integers(0, 10_000), include_diagonal=st.booleans())
def test_agrees_with_scipy_also_with_ties(seed, include_diagonal):
    distances, in_tree = symmetric(seed), symmetric(seed + 1, whole=True) + 1 - torch.eye(7)
    result = mean_correlation(distances, in_tree, include_diagonal=include_diagonal)
    assert result == pytest.approx(by_scipy(distances, in_tree, include_diagonal), abs=1e-9)


def test_only_the_order_counts():
    distances, in_tree = symmetric(1), symmetric(2, whole=True)
    assert mean_correlation(distances.square(), in_tree) == mean_correlation(distances, in_tree)
    assert mean_correlation(distances, distances, include_diagonal=False) == pytest.approx(1)
    assert mean_correlation(-distances, distances, include_diagonal=False) == pytest.approx(-1)


def test_the_ceiling_of_the_cifar100_tree(cifar100_distances):
    """Distances in the right order without ties reach 0.858003, and 0.853114 without the diagonal."""
    jitter = symmetric(0, classes=100) / 100
    ordered = cifar100_distances + jitter
    assert mean_correlation(ordered, cifar100_distances) == pytest.approx(0.858003, abs=1e-6)
    without = mean_correlation(ordered, cifar100_distances, include_diagonal=False)
    assert without == pytest.approx(0.853114, abs=1e-6)


def test_a_class_with_equal_distances_is_left_out():
    flat = 1 - torch.eye(7)
    with pytest.raises(ValueError, match="expected a class with different distances to the others, got none"):
        mean_correlation(symmetric(1, classes=7), flat, include_diagonal=False)
    in_tree = symmetric(3, classes=7)
    in_tree[1:, 0] = 5.0
    others = by_scipy(symmetric(1, classes=7), in_tree, False)
    assert mean_correlation(symmetric(1, classes=7), in_tree, include_diagonal=False) == pytest.approx(others)


def test_chords_are_distances_of_directions():
    vectors = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    cosines = torch.nn.functional.cosine_similarity(vectors[:, None], vectors, dim=-1).double()
    torch.testing.assert_close(chords(vectors), (2 - 2 * cosines).clamp(min=0).sqrt(), atol=1e-3, rtol=0)
    assert not chords(vectors).diagonal().any()


@pytest.mark.parametrize(
    ("distances", "in_tree", "says"),
    [
        (torch.eye(3), torch.eye(4), "the same classes in the space and in the tree, got 3 and 4"),
        (torch.zeros(1, 1), torch.zeros(1, 1), "of two classes or more"),
        (torch.eye(3) * math.nan, torch.eye(3), "expected finite distances"),
        (torch.zeros(2, 3), torch.eye(2), r"got \(2, 3\)"),
    ],
)
def test_refuses_distances_that_do_not_fit(distances, in_tree, says):
    with pytest.raises(ValueError, match=says):
        mean_correlation(distances, in_tree)
