"""Measures of a representation against plain double loops, their identities, and the thesis's own tables."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from samekind.measures.geometry import class_density, class_separation, class_spread

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])  # class 3 is alone


def drawn(seed=0, labels=LABELS, dimension=4):
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(int(labels.max()) + 1, dimension, generator=generator, dtype=torch.double)
    return centres[labels] + 0.7 * torch.randn(
        len(labels), dimension, generator=generator, dtype=torch.double
    )


def by_class(features, labels):
    return [[x for x, label in zip(features, labels, strict=True) if label == k] for k in labels.unique()]


def unit(x):
    return x / x.norm() if x.norm() > 0 else x


def spread_by_hand(classes):
    """Squared distances, two loops: between class means, and to one's own."""
    means = [sum(value) / len(value) for value in classes]
    pairs = list(itertools.permutations(means, 2))
    between = sum(float((a - b).square().sum()) for a, b in pairs) / len(pairs)
    within = 0.0
    for members, mean in zip(classes, means, strict=True):
        within += sum(float((x - mean).square().sum()) for x in members) / len(members)
    return between, within / len(classes)


@pytest.mark.parametrize("normalise", [True, False])
def test_spread_is_the_double_loop(normalise):
    features = drawn()
    classes = by_class([unit(x) if normalise else x for x in features], LABELS)
    between, within = spread_by_hand(classes)
    assert class_spread(features, LABELS, normalise=normalise) == pytest.approx(
        (between, within, between / within)
    )


def test_spread_keeps_its_digits_far_from_the_origin():
    """Mean square less square mean would be all rounding here."""
    near, far = drawn(), drawn() + 1e7
    assert class_spread(far, LABELS, normalise=False) == pytest.approx(
        class_spread(near, LABELS, normalise=False), rel=1e-6
    )


def test_separation_is_the_double_loop_over_all_pairs_and_itself():
    features = drawn()
    features[1] = 0  # no direction: its cosine with anything, itself too, is 0
    classes = by_class([unit(x) for x in features], LABELS)
    within = sum(
        sum(float(1 - a @ b) for a in members for b in members) / len(members) ** 2 for members in classes
    )
    total = sum(
        sum(float(1 - a @ b) for a in one for b in other) / (len(one) * len(other))
        for one in classes
        for other in classes
    )
    expected = 1 - (within / len(classes)) / (total / len(classes) ** 2)
    assert class_separation(features, LABELS) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("normalisation", ["global", "classwise"])
@pytest.mark.parametrize("distance", ["cosine", "squared"])
def test_density_is_the_double_loop(normalisation, distance):
    features = drawn()
    features[3] = 0
    cosine = distance == "cosine"
    classes = by_class([unit(x) if cosine else x for x in features], LABELS)

    def apart(a, b):
        return float(1 - a @ b) if cosine else float((a - b).square().sum())

    entry = [
        [apart(a, b) for a, b in itertools.permutations(members, 2)]
        for members in classes
        if len(members) > 1
    ]
    every = [value for values in entry for value in values]
    within = np.mean(every) if normalisation == "global" else np.mean([np.mean(values) for values in entry])
    means = [sum(own) / len(own) for own in classes]
    means = [unit(mean) for mean in means] if cosine else means
    between = np.mean([apart(a, b) for a, b in itertools.permutations(means, 2)])
    result = class_density(features, LABELS, normalisation=normalisation, distance=distance)
    assert result == pytest.approx((within, between, within / between))


def test_the_two_normalisations_agree_for_classes_of_one_size():
    labels = torch.arange(3).repeat(4)
    one, other = (
        class_density(drawn(1, labels), labels, normalisation=how) for how in ("global", "classwise")
    )
    assert one == pytest.approx(other)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
@effort(max_examples=20, deadline=None)
def test_separation_and_spread_say_the_same_of_unit_features(seed, classes, items):
    labels = torch.arange(classes).repeat(items)
    features = drawn(seed, labels)
    phi = class_spread(features, labels).ratio
    expected = 1.0 if phi == math.inf else 1 / (1 + 2 * classes / ((classes - 1) * phi))
    assert class_separation(features, labels) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 10**6), st.floats(0.01, 100))
@effort(max_examples=15, deadline=None)
def test_size_and_rotation_do_not_matter(seed, factor):
    features = drawn(seed)
    turn = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(seed + 1)).double()).Q
    for measure in (class_spread, class_separation, class_density):
        assert measure(factor * features @ turn, LABELS) == pytest.approx(measure(features, LABELS), rel=1e-6)


def test_the_extremes():
    points = torch.eye(3)[torch.tensor([0, 0, 1, 1, 2])]
    labels = torch.tensor([0, 0, 1, 1, 2])
    assert class_spread(points, labels) == (pytest.approx(2.0), 0.0, math.inf)
    assert class_separation(points, labels) == 1.0
    assert class_density(points, labels).ratio == 0
    same_means = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert class_separation(same_means, torch.tensor([0, 0, 1, 1])) == 0
    one_point = torch.full((4, 3), 0.3)
    assert math.isnan(class_separation(one_point, torch.tensor([0, 0, 1, 1])))
    assert math.isnan(class_spread(torch.ones(4, 1), torch.tensor([0, 0, 1, 1])).ratio)


def test_classes_of_one_item_each_have_no_density():
    with pytest.raises(ValueError, match="a class with at least two items"):
        class_density(torch.eye(3), torch.arange(3))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({"normalisation": "local"}, 'got "local"'), ({"distance": "euclidean"}, 'got "euclidean"')],
)
def test_refuses_unknown_options(arguments, says):
    with pytest.raises(ValueError, match=says):
        class_density(drawn(), LABELS, **arguments)


# --- Kim, chapter 5: standard and adversarially trained models --------------------------------------

# Mean correlation of input and feature distances (l2, then l-infinity), and the measures, a model a column.
CIFAR = {
    "l2": [0.0818, 0.1586, 0.2109, 0.3003, 0.2719],
    "linf": [0.0517, 0.1239, 0.1689, 0.2229, 0.1914],
    "between": [1.0245, 0.6783, 0.65, 0.5376, 0.5312],
    "within": [0.0683, 0.1312, 0.1513, 0.2606, 0.1991],
    "phi": [15.0003, 5.1692, 4.2946, 2.0631, 2.6684],
    "separation": [0.8709, 0.6993, 0.659, 0.4814, 0.5456],
    "directions": [32, 51, 76, 75, 71],
    "decay": [2.4053, 1.6701, 0.9996, 1.457, 1.3003],
}
SVHN = {
    "l2": [-0.0118, 0.0301, 0.1003, 0.1737, 0.0134, 0.0371],
    "linf": [-0.0061, 0.0576, 0.149, 0.2162, 0.0307, 0.0619],
    "between": [1.2494, 0.7214, 0.5972, 0.4889, 0.8629, 1.0091],
    "within": [0.0468, 0.0578, 0.1215, 0.2735, 0.0564, 0.0671],
    "phi": [26.6981, 12.4786, 4.9135, 1.7879, 15.2928, 15.0282],
    "separation": [0.9231, 0.8488, 0.6885, 0.4458, 0.8731, 0.8711],
    "directions": [21, 35, 48, 52, 34, 31],
    "decay": [2.3753, 2.8203, 2.5358, 2.2234, 2.6031, 2.5739],
}


@pytest.mark.parametrize("table", [CIFAR, SVHN], ids=["CIFAR-10", "SVHN"])
def test_every_printed_column_keeps_the_identity_of_separation_and_spread(table):
    """Ten classes; the printed digits are cut off, not rounded."""
    for phi, separation in zip(table["phi"], table["separation"], strict=True):
        assert 1 / (1 + 20 / (9 * phi)) == pytest.approx(separation, abs=1.01e-4)
    for phi, between, within in zip(table["phi"], table["between"], table["within"], strict=True):
        assert between / within == pytest.approx(phi, rel=2e-3)


@pytest.mark.parametrize(
    ("table", "measure", "pearson", "spearman"),
    [
        (CIFAR, "phi", -0.9058, -1.0),
        (CIFAR, "separation", -0.9917, -1.0),
        (CIFAR, "directions", 0.9115, 0.7),
        (CIFAR, "decay", -0.7513, -0.6),
        (SVHN, "phi", -0.9082, -0.9429),
        (SVHN, "separation", -0.9860, -0.9429),
        (SVHN, "directions", 0.9337, 0.8286),
        (SVHN, "decay", -0.5271, -0.3714),
        (CIFAR, "linf", 0.9892, None),
        (SVHN, "linf", 0.9952, None),
    ],
)
def test_the_printed_correlations_follow_from_the_printed_measures(table, measure, pearson, spearman):
    assert pearsonr(table["l2"], table[measure]).statistic == pytest.approx(pearson, abs=6e-5)
    if spearman is not None:
        assert spearmanr(table["l2"], table[measure]).statistic == pytest.approx(spearman, abs=6e-5)
