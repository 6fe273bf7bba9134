"""Distances for trees: checked, and those of a confusion matrix against a loop."""

import pytest
import torch

from samekind.errors import DataError
from samekind.taxonomy.distances import checked_distances, confusion_distances


def test_both_orders_count_alike_and_none_to_oneself():
    assert checked_distances(torch.tensor([[9.0, 2.0], [4.0, 9.0]]), ["a", "b"]).tolist() == [[0, 3], [3, 0]]


def test_classes_that_are_answered_alike_are_near():
    confusion = torch.tensor([[8, 2, 0, 0], [1, 4, 0, 0], [0, 0, 3, 0], [0, 0, 0, 0]])
    distances = confusion_distances(confusion)
    rows = [[0.8, 0.2, 0, 0], [0.2, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            expected = sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2
            assert distances[i, j].item() == pytest.approx(expected)


def test_what_is_no_distance_is_refused():
    with pytest.raises(DataError, match='from "b" to "a" is -1'):
        checked_distances(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]), ["a", "b"])
    with pytest.raises(DataError, match='from "a" to "b" is nan'):
        checked_distances(torch.tensor([[0.0, torch.nan], [1.0, 0.0]]), ["a", "b"])
    with pytest.raises(DataError, match=r"got \(2, 3\) for 2"):
        checked_distances(torch.zeros(2, 3), ["a", "b"])
    for wrong in (torch.zeros(2, 3), -torch.ones(2, 2), torch.full((2, 2), torch.inf)):
        with pytest.raises(DataError, match="expected counts of 0 or more"):
            confusion_distances(wrong)
