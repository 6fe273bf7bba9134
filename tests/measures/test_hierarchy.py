"""Graded answers: against loops, the published similarities and neighbourhoods, a k that is too large."""

import itertools

import pytest
import torch

from samekind.measures import (
    average_hierarchical_distance,
    average_hierarchical_similarity,
    hierarchical_precision_at,
    hierarchical_similarity_at,
    top_k_accuracy,
    tree_distances,
    tree_neighbourhoods,
)
from samekind.measures.hierarchy import _checked

TREE = torch.tensor([[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]]).double()
LABELS = torch.tensor([0, 0, 1, 2, 3, 3])


def ranked(seed=0):
    """Every other item in some order: the classes of the neighbours."""
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for query in range(len(LABELS)):
        others = [other for other in range(len(LABELS)) if other != query]
        rows.append(LABELS[[others[place] for place in torch.randperm(5, generator=generator).tolist()]])
    return torch.stack(rows)


def similarity(first, second):
    distance = float(TREE[first, second])
    return 1 - (distance / (1 + distance)) ** 2


def by_hand(neighbours, k):
    shares = []
    for query, label in enumerate(LABELS.tolist()):
        result = sum(similarity(label, other) for other in neighbours[query, :k].tolist())
        others = [similarity(label, other) for place, other in enumerate(LABELS.tolist()) if place != query]
        shares.append(result / sum(sorted(others, reverse=True)[:k]))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_a_loop(k, seed):
    result = hierarchical_similarity_at(ranked(seed), LABELS, class_distances=TREE, k=k)
    assert result == (pytest.approx(by_hand(ranked(seed), k)), k)


def test_the_area_is_that_under_the_curve():
    curve = [by_hand(ranked(), k) for k in range(1, 5)]
    expected = sum((one + other) / 2 for one, other in itertools.pairwise(curve)) / 3
    result = average_hierarchical_similarity(ranked(), LABELS, class_distances=TREE, k=4)
    assert result == (pytest.approx(expected), 4)


def test_the_best_order_has_one_at_every_rank():
    best = torch.stack(
        [
            LABELS[sorted(set(range(6)) - {query}, key=lambda other: -similarity(label, LABELS[other]))]
            for query, label in enumerate(LABELS.tolist())
        ]
    )
    for measure in (hierarchical_similarity_at, average_hierarchical_similarity):
        assert measure(best, LABELS, class_distances=TREE, k=3).mean == pytest.approx(1)


@pytest.mark.parametrize("measure", [hierarchical_similarity_at, average_hierarchical_similarity])
def test_cuts_k_to_the_gallery_and_returns_it(measure):
    assert measure(ranked(), LABELS, class_distances=TREE, k=250) == measure(
        ranked(), LABELS, class_distances=TREE, k=5
    )
    assert measure(ranked(), LABELS, class_distances=TREE, k=250).k == 5
    assert measure(ranked()[:, :2], LABELS, class_distances=TREE, k=250).k == 2
    assert measure(ranked(), LABELS, class_distances=TREE, k=9, gallery=torch.tensor([0, 1, 2])).k == 3


def test_the_published_similarities_of_tree_distances():
    """0, 2, 4, 6 and 8 steps in the tree, with beta 1."""
    steps = torch.tensor([0.0, 2.0, 4.0, 6.0, 8.0])
    tree = (steps[:, None] - steps).abs()
    neighbours, labels = torch.zeros(5, 1, dtype=torch.int64), torch.arange(5)
    similarities = _checked(neighbours, labels, tree, 1, 1.0, labels)[0]
    expected = torch.tensor([1, 0.555556, 0.36, 0.265306, 0.209877], dtype=torch.double)
    torch.testing.assert_close(similarities, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"class_distances": TREE[:2]}, r"expected class_distances \(classes, classes\), got \(2, 4\)"),
        ({"class_distances": TREE[:3, :3]}, "expected classes from 0 to 2, as in the tree, got 3"),
        (
            {"class_distances": TREE + 1},
            "expected finite class_distances of 0 or more, and 0 from a class to itself",
        ),
        (
            {"class_distances": TREE / 0},
            "expected finite class_distances of 0 or more, and 0 from a class to itself",
        ),
        ({"class_distances": torch.where(TREE == 4, torch.inf, TREE)}, "expected finite class_distances"),
        ({"neighbours": ranked() - 1}, "expected classes from 0 to 3, as in the tree, got -1"),
        ({"labels": LABELS - 1}, "expected classes from 0 to 3, as in the tree, got -1"),
        ({"gallery": torch.tensor([0, 4])}, "expected classes from 0 to 3, as in the tree, got 4"),
        ({"gallery": torch.tensor([0, -1])}, "expected classes from 0 to 3, as in the tree, got -1"),
        ({"k": 0}, "expected k of 1 or more and beta above 0, got 0"),
        ({"beta": 0.0}, "beta above 0, got 50 and 0.0"),
        ({"gallery": torch.tensor([], dtype=torch.int64)}, "expected at least one item"),
        ({"labels": LABELS[:3]}, r"got \(6, 5\) and \(3,\)"),
    ],
)
def test_refuses_arguments_that_do_not_fit(change, says):
    arguments = {"neighbours": ranked(), "labels": LABELS, "class_distances": TREE, **change}
    with pytest.raises(ValueError, match=says):
        hierarchical_similarity_at(**arguments)


# --- predictions ------------------------------------------------------------------------------------

SCORES = torch.randn(12, 4, generator=torch.Generator().manual_seed(3)).round(decimals=1)
TRUTH = torch.arange(12) % 4


def first_classes(row, k):
    """The k best classes of one item; of equal scores the lower one."""
    return sorted(range(4), key=lambda label: (-float(SCORES[row, label]), label))[:k]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_distance_of_predictions_agrees_with_a_loop(k):
    means = [sum(float(TREE[TRUTH[row], label]) for label in first_classes(row, k)) / k for row in range(12)]
    result = average_hierarchical_distance(SCORES, TRUTH, class_distances=TREE, k=k)
    assert result == pytest.approx(sum(means) / 12)
    wrong = [value for row, value in enumerate(means) if first_classes(row, 1) != [int(TRUTH[row])]]
    only = average_hierarchical_distance(SCORES, TRUTH, class_distances=TREE, k=k, only_mistakes=True)
    assert only == pytest.approx(sum(wrong) / len(wrong))


@pytest.mark.parametrize("rule", ["text", "code"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_precision_agrees_with_a_loop(k, rule):
    shares = []
    for row, label in enumerate(TRUTH.tolist()):
        steps = sorted(TREE[label].tolist())
        radius = steps[min(k - 1 if rule == "text" else k + 1, 3)]
        near = {other for other in range(4) if float(TREE[label, other]) <= radius}
        shares.append(len(near.intersection(first_classes(row, k))) / k)
    result = hierarchical_precision_at(SCORES, TRUTH, class_distances=TREE, k=k, rule=rule)
    assert result == pytest.approx(sum(shares) / 12)


def test_a_tree_without_steps_between_other_classes_gives_the_accuracy():
    """With every other class equally far, the distance counts mistakes, and HP@1 is the accuracy."""
    flat = 1 - torch.eye(4)
    accuracy = top_k_accuracy(SCORES, TRUTH, ks=(1,))[1]
    assert average_hierarchical_distance(SCORES, TRUTH, class_distances=flat) == pytest.approx(1 - accuracy)
    assert hierarchical_precision_at(SCORES, TRUTH, class_distances=flat, k=1) == pytest.approx(accuracy)


def test_no_mistakes_have_no_severity_and_a_large_k_means_all_classes():
    right = torch.eye(4)
    assert (
        average_hierarchical_distance(right, torch.arange(4), class_distances=TREE, only_mistakes=True) == 0
    )
    assert tree_distances(right, torch.arange(4), class_distances=TREE, k=9).tolist() == [2.5] * 4
    assert hierarchical_precision_at(right, torch.arange(4), class_distances=TREE, k=9) == 1


def test_sizes_of_the_neighbourhoods_in_the_tree_of_cifar100(cifar100_distances):
    """Five classes by the text of the paper; 10 to 30, 18.75 on average, by its code."""
    text, code = (tree_neighbourhoods(cifar100_distances, k=5, rule=rule).sum(1) for rule in ("text", "code"))
    assert set(text.tolist()) == {5}
    assert (int(code.min()), int(code.max()), float(code.double().mean())) == (10, 30, 18.75)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"class_distances": TREE[:3, :3]},
            "expected distances of the 4 classes that have scores, got those of 3",
        ),
        ({"class_distances": TREE[:2]}, r"expected class_distances \(classes, classes\), got \(2, 4\)"),
        ({"class_distances": -TREE}, "expected finite class_distances"),
        ({"k": 0}, "expected k of 1 or more, got 0"),
        ({"truth": TRUTH + 1}, "expected a truth of whole numbers from 0 to 3"),
        ({"rule": "paper"}, "expected the rule .* got 'paper'"),
    ],
)
def test_refuses_predictions_that_do_not_fit(change, says):
    arguments = {"class_scores": SCORES, "truth": TRUTH, "class_distances": TREE, **change}
    with pytest.raises(ValueError, match=says):
        hierarchical_precision_at(**arguments)
