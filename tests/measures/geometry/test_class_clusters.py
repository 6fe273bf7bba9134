"""Radii, shifts and nearest centroids against loops anyone can check by eye, and against scikit-learn."""

import doctest

import pytest
import torch
from sklearn.neighbors import NearestCentroid

from samekind.measures.geometry import (
    centroid_shifts,
    class_clusters,
    class_radii,
    nearest_centroid_accuracy,
)

generator = torch.Generator().manual_seed(0)
FEATURES = torch.randn(30, 4, generator=generator, dtype=torch.double)
MOVED = FEATURES + torch.randn(30, 4, generator=generator, dtype=torch.double)
LABELS = torch.randint(4, (30,), generator=generator) * 3 + 2  # 2, 5, 8, 11: names are not positions


def test_a_radius_is_the_mean_distance_to_the_centroid_and_a_shift_the_way_of_it():
    radii, shifts = [], []
    for label in sorted(set(LABELS.tolist())):
        own = torch.eq(LABELS, label)
        members = FEATURES[own]
        centroid = members.mean(0)
        radii.append(sum(float((item - centroid).norm()) for item in members) / len(members))
        shifts.append(float((MOVED[own].mean(0) - centroid).norm()))
    assert class_radii(FEATURES, LABELS).tolist() == pytest.approx(radii)
    assert centroid_shifts(FEATURES, MOVED, LABELS).tolist() == pytest.approx(shifts)


def test_a_class_that_is_a_point_has_no_radius_and_one_that_turns_about_its_centre_no_shift():
    assert class_radii(torch.ones(5, 3), torch.zeros(5, dtype=torch.long)).tolist() == [0]
    ring = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    assert centroid_shifts(ring, ring.roll(1, 0), torch.zeros(4, dtype=torch.long)).tolist() == [0]


def test_the_nearest_centroid_is_scikit_learn_s():
    model = NearestCentroid().fit(FEATURES.numpy(), LABELS.numpy())
    assert nearest_centroid_accuracy(FEATURES, LABELS) == model.score(FEATURES.numpy(), LABELS.numpy())
    other = model.score(MOVED.numpy(), LABELS.numpy())
    assert nearest_centroid_accuracy(MOVED, LABELS, reference=(FEATURES, LABELS)) == other
    assert other != nearest_centroid_accuracy(MOVED, LABELS)


def test_blocks_do_not_change_the_answer(monkeypatch):
    whole = nearest_centroid_accuracy(FEATURES, LABELS)
    monkeypatch.setattr(class_clusters, "PAIRS", 9)
    assert nearest_centroid_accuracy(FEATURES, LABELS) == whole


def test_a_class_the_reference_does_not_have_is_wrong_and_ties_go_to_the_lower_class():
    reference = torch.tensor([[-1.0], [1.0]]), torch.tensor([3, 7])
    queries = torch.tensor([[-2.0], [0.0], [0.0], [2.0]])
    assert nearest_centroid_accuracy(queries, torch.tensor([3, 3, 7, 5]), reference=reference) == 0.5


def test_digits_are_kept_far_from_the_origin():
    near = torch.tensor([[0.0], [1.0], [2.0], [3.0]], dtype=torch.double)
    labels = torch.tensor([0, 0, 1, 1])
    assert nearest_centroid_accuracy(near + 1e9, labels) == nearest_centroid_accuracy(near, labels) == 1


def test_refuses_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="expected one label an item"):
        class_radii(FEATURES, LABELS[:-1])
    with pytest.raises(ValueError, match=r"of one shape, got \(30, 4\) and \(30, 3\)"):
        centroid_shifts(FEATURES, FEATURES[:, :3], LABELS)
    with pytest.raises(ValueError, match="of the features' dimension, got 3 and 4"):
        nearest_centroid_accuracy(FEATURES, LABELS, reference=(FEATURES[:, :3], LABELS))
    with pytest.raises(ValueError, match="expected finite features"):
        class_radii(FEATURES / 0, LABELS)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(class_clusters)
    assert outcome.attempted > 0
    assert outcome.failed == 0
