"""Exact distances to the nearest adversarial point, and what paper III proves of the two accuracies."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samekind.measures import accuracy_within, adversarial_distances, smallest_distance

#: The toy set of paper III.
TOY = torch.tensor([(-1, -1), (-2, 1), (2, -2), (1, 1), (2, -1), (0, 0), (2, 1), (1, -1)], dtype=torch.double)
CLASSES = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1])
MEANS = torch.stack([TOY[:5].mean(0), TOY[5:].mean(0)])
AXIS = torch.linspace(-6, 6, 601, dtype=torch.double)


def accuracies(distances, epsilons):
    return [at.mean for at in accuracy_within(distances, epsilons=epsilons)]


def by_grid(references, names, *, voronoi):
    """The distance to the nearest wrong point of a grid, item by item."""
    points = torch.cartesian_prod(AXIS, AXIS)
    answers, apart = names[torch.cdist(points, references).argmin(1)], torch.cdist(points, TOY)
    distances = []
    for place, name in enumerate(CLASSES):
        wrong = answers != name
        if voronoi:
            others = torch.arange(len(TOY)) != place
            wrong &= (apart[:, place, None] < apart[:, others]).all(1)
        distances.append(float(apart[wrong, place].min()) if wrong.any() else math.inf)
    return torch.tensor(distances, dtype=torch.double)


@pytest.mark.parametrize("voronoi", [False, True])
@pytest.mark.parametrize(
    ("references", "names"),
    [(MEANS, [0, 1]), (TOY[[0, 3, 5, 6]], [0, 0, 1, 1]), (TOY + 0.3, CLASSES.tolist())],
)
def test_the_distance_is_that_of_a_fine_grid(references, names, voronoi):
    exact = adversarial_distances(
        TOY, CLASSES, references=references, reference_labels=torch.tensor(names), voronoi=voronoi
    )
    grid = by_grid(references, torch.tensor(names), voronoi=voronoi)
    assert (exact <= grid + 1e-9).all()
    near = exact < 3  # the grid ends
    torch.testing.assert_close(exact[near], grid[near], atol=0.03, rtol=0)
    assert near.any()


def test_observation_1_of_paper_iii():
    """The 1-nearest-neighbour classifier has Voronoi accuracy 1 at every epsilon."""
    voronoi = adversarial_distances(TOY, CLASSES, voronoi=True)
    assert accuracies(voronoi, [0.5, 1.0, 3.5, 1e6]) == [1, 1, 1, 1]
    standard = adversarial_distances(TOY, CLASSES)
    assert accuracies(standard, [0.4999, 0.5001, 1.0, 3.5]) == [1, 0.5, 0.125, 0]


@settings(max_examples=20)
@given(
    data=arrays.arrays("float64", (8, 3), elements=st.integers(-6, 6).map(lambda n: n / 2)),
    references=arrays.arrays("float64", (4, 3), elements=st.floats(-3, 3)),
)
def test_theorem_1_of_paper_iii(data, references):
    """Below half the smallest distance the two accuracies are equal; the Voronoi one is never below the
    standard one and never rises with epsilon; the classifier by the items themselves has it at 1.
    """
    data, labels = torch.from_numpy(data).unique(dim=0), torch.arange(8) % 3
    labels, names = labels[: len(data)], torch.arange(4) % 3
    other = {"references": torch.from_numpy(references), "reference_labels": names}
    standard = adversarial_distances(data, labels, **other)
    voronoi = adversarial_distances(data, labels, voronoi=True, **other)
    assert (voronoi >= standard - 1e-6).all()
    below = smallest_distance(data) / 2 * (1 - 1e-6)
    epsilons = [share * min(below, 10) for share in (0.1, 0.5, 0.9, 1.0)]
    assert accuracies(voronoi, epsilons) == accuracies(standard, epsilons)
    curve = accuracies(voronoi, [0.1, 0.3, 1.0, 3.0, 10.0, math.inf])
    assert curve == sorted(curve, reverse=True)
    assert accuracies(adversarial_distances(data, labels, voronoi=True), [1e9]) == [1]


def test_the_regions_of_the_toy_set_at_half_the_smallest_distance():
    """At 0.5 the two kinds of region differ at three midpoints of items of two classes only."""
    assert smallest_distance(TOY) == 1.0
    first, second = torch.triu_indices(8, 8, 1)
    nearest = (TOY[first] - TOY[second]).norm(dim=1) == 1
    middles = (TOY[first] + TOY[second])[nearest] / 2
    of_two = CLASSES[first][nearest] != CLASSES[second][nearest]
    assert sorted(middles.tolist()) == [[1.5, -1.0], [1.5, 1.0], [2.0, -1.5]]
    assert of_two.tolist().count(True) == 2


def test_one_dimension_by_hand():
    """Items at 0 and 1, references at 0.2 and 0.6: beyond 0.4 the class is 1."""
    features, labels = torch.tensor([[0.0], [1.0]]), torch.tensor([0, 1])
    other = {"references": torch.tensor([[0.2], [0.6]]), "reference_labels": labels}
    assert adversarial_distances(features, labels, **other).tolist() == pytest.approx([0.4, 0.6])
    assert adversarial_distances(features, labels, voronoi=True, **other).tolist() == pytest.approx(
        [0.4, math.inf]
    )


def test_an_item_that_is_wrong_has_distance_0():
    other = {"references": torch.tensor([[0.0]]), "reference_labels": torch.tensor([1])}
    assert adversarial_distances(torch.tensor([[0.0], [5.0]]), torch.tensor([0, 1]), **other).tolist() == [
        0,
        math.inf,
    ]


@pytest.mark.parametrize(("order", "expected"), [(1, 3), (2, math.sqrt(5)), (math.inf, 2)])
def test_the_smallest_distance(order, expected):
    features = torch.tensor([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [9.0, 9.0]])
    assert smallest_distance(features, order=order) == pytest.approx(expected)
    assert smallest_distance(features[1:3], order=order) == math.inf


def test_what_is_refused():
    with pytest.raises(ValueError, match="references and reference_labels together"):
        adversarial_distances(TOY, CLASSES, references=TOY)
    with pytest.raises(ValueError, match="references as long as the features, 2, got 3"):
        adversarial_distances(TOY, CLASSES, references=torch.zeros(8, 3), reference_labels=CLASSES)
    with pytest.raises(ValueError, match="order 1, 2 or infinity, got 3"):
        smallest_distance(TOY, order=3)
