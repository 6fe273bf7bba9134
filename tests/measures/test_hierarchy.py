"""Graded retrieval: against loops, the published similarities, and k beyond what there is."""

import itertools

import pytest
import torch

from samekind.measures import average_hierarchical_similarity, hierarchical_similarity_at
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
        ({"class_distances": TREE + 1}, "expected finite distances, 0 from a class to itself"),
        ({"class_distances": TREE / 0}, "expected finite distances, 0 from a class to itself"),
        ({"class_distances": torch.where(TREE == 4, torch.inf, TREE)}, "expected finite distances"),
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
