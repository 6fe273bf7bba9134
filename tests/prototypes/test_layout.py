"""Where fixed proxies stand: the tables of the thesis, and the exact cosines of Barz and Denzler."""

import math
from pathlib import Path

import pytest
import torch
from scipy.stats import spearmanr

from samekind.errors import SettingError
from samekind.prototypes.layout import (
    exact_directions,
    multidimensional_scaling,
    stress,
    turned,
    wanted_chords,
)
from samekind.taxonomy import Tree, tree_of_paths

CIFAR100 = Path(__file__).parents[1] / "taxonomy" / "cifar100_taxonomy.csv"


@pytest.fixture(scope="module")
def cifar100():
    """The tree of the 100 classes, and their names."""
    rows = [line.split(",") for line in CIFAR100.read_text().splitlines()[1:]]
    return tree_of_paths({name: path.split("/") for name, path in rows}), [name for name, _ in rows]


def small_tree():
    """Two levels, and the inner node "mammals" a class itself."""
    parents = {"mammals": 0, "fish": 0, "dog": 1, "cat": 1, "shark": 2, "cod": 2, "ray": 2}
    tree = Tree(("animals", *parents), (-1, *parents.values()))
    return tree, ["dog", "cat", "shark", "cod", "ray", "mammals"]


@pytest.mark.parametrize(
    ("distance", "chord", "cosine"),
    [
        (0.0, 0.0, 1.0),
        (2.0, 0.942809, 0.555556),
        (4.0, 1.131371, 0.36),
        (6.0, 1.212183, 0.265306),
        (8.0, 1.257079, 0.209877),
    ],
)
def test_the_wanted_chords_are_those_of_the_table(distance, chord, cosine):
    wanted = wanted_chords(torch.tensor(distance, dtype=torch.double))
    assert wanted.item() == pytest.approx(chord, abs=1e-6)
    assert 1 - wanted.item() ** 2 / 2 == pytest.approx(cosine, abs=1e-6)
    assert wanted < math.sqrt(2)


def mean_correlation(directions, distances, *, diagonal):
    """By the definition: Spearman's correlation of each column, averaged by Fisher's z."""
    chords = torch.cdist(directions.double(), directions.double())
    total = 0.0
    for place in range(len(distances)):
        rows = [row for row in range(len(distances)) if diagonal or row != place]
        total += math.atanh(spearmanr(chords[rows, place], distances[rows, place]).statistic)
    return math.tanh(total / len(distances))


def test_scaling_reaches_the_mean_correlation_of_the_table(cifar100):
    """The ceiling for a tree with ties, whatever the seed."""
    tree, names = cifar100
    distances = tree.distances(names)
    torch.manual_seed(0)
    directions = multidimensional_scaling(distances, dimension=128)
    torch.testing.assert_close(directions.norm(dim=1), torch.ones(100))
    assert stress(directions, distances) < 5e-4
    assert mean_correlation(directions, distances, diagonal=True) == pytest.approx(0.858003, abs=1e-6)
    assert mean_correlation(directions, distances, diagonal=False) == pytest.approx(0.853114, abs=1e-6)


def test_scaling_puts_near_classes_near_also_in_few_dimensions():
    tree, names = small_tree()
    torch.manual_seed(1)
    directions = multidimensional_scaling(tree.distances(names), dimension=5)
    chords = torch.cdist(directions, directions)
    wanted = wanted_chords(tree.distances(names)).float()
    torch.testing.assert_close(chords, wanted, atol=0.12, rtol=0)
    assert chords[0, 1] < chords[0, 2]
    assert chords[0, 5] < chords[0, 1]  # a kind of mammal and mammals as such: one edge


def test_scaling_of_no_class_or_one_is_a_random_direction():
    for classes in (0, 1):
        directions = multidimensional_scaling(torch.zeros(classes, classes), dimension=3)
        assert directions.shape == (classes, 3)
        assert directions.isfinite().all()


@pytest.mark.parametrize("spare", [0, 3])
def test_the_cosines_of_exact_directions_are_one_less_the_lcs_distance(cifar100, spare):
    tree, names = cifar100
    wanted = tree.lcs_distances(names)
    directions = exact_directions(wanted, dimension=len(names) + spare)
    assert directions.shape == (100, 100 + spare)
    torch.testing.assert_close(directions @ directions.T, (1 - wanted).float(), atol=1e-6, rtol=0)


def test_exact_directions_of_a_class_at_an_inner_node():
    """It is as far from what is below it as these are from each other: by the height of the node."""
    tree, names = small_tree()
    directions = exact_directions(tree.lcs_distances(names), dimension=6)
    cosines = directions @ directions.T
    assert cosines[0, 1].item() == pytest.approx(0.5)
    assert cosines[0, 5].item() == pytest.approx(0.5)
    assert cosines[0, 2].item() == pytest.approx(0.0, abs=1e-6)


def test_in_fewer_dimensions_directions_are_the_nearest(cifar100):
    tree, names = cifar100
    wanted = tree.lcs_distances(names)
    errors = []
    for dimension in (20, 60, 99):
        directions = exact_directions(wanted, dimension=dimension)
        torch.testing.assert_close(directions.norm(dim=1), torch.ones(100))
        errors.append(float((directions @ directions.T - (1 - wanted)).abs().mean()))
    assert errors == sorted(errors, reverse=True)


def test_refuses_what_has_no_directions():
    with pytest.raises(SettingError, match="two classes at distance 0"):
        exact_directions(torch.zeros(2, 2), dimension=4)
    with pytest.raises(SettingError, match="beta must be a positive number"):
        wanted_chords(torch.zeros(1), beta=0.0)


def test_turned_directions_keep_their_angles_and_come_nearer():
    tree, names = small_tree()
    directions = exact_directions(tree.lcs_distances(names), dimension=9)
    means = torch.randn(6, 9, generator=torch.Generator().manual_seed(0))
    nearer = turned(directions, means)
    torch.testing.assert_close(nearer @ nearer.T, directions @ directions.T)
    means = torch.nn.functional.normalize(means, dim=1)
    assert (nearer * means).sum() > (directions * means).sum() + 1


def test_directions_that_were_turned_away_are_turned_back():
    directions = torch.nn.functional.normalize(
        torch.randn(4, 6, generator=torch.Generator().manual_seed(1)), dim=1
    )
    rotation, _ = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(2)))
    torch.testing.assert_close(turned(directions @ rotation, 3 * directions), directions)


def test_no_turn_has_a_higher_sum_of_cosines():
    """In the plane every turn and reflection can be tried."""
    generator = torch.Generator().manual_seed(3)
    directions, means = (
        torch.nn.functional.normalize(torch.randn(5, 2, generator=generator), dim=1) for _ in range(2)
    )
    best = -math.inf
    for angle in torch.linspace(0, 2 * math.pi, 721):
        for sign in (1.0, -1.0):
            cos, sin = angle.cos(), angle.sin()
            turn = torch.stack([torch.stack([cos, -sin * sign]), torch.stack([sin, cos * sign])])
            best = max(best, float((directions @ turn * means).sum()))
    assert float((turned(directions, means) * means).sum()) == pytest.approx(best, abs=1e-3)


def test_a_class_without_items_has_no_say_in_the_turn():
    directions = torch.eye(3)
    means = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    torch.testing.assert_close(turned(directions, means)[:2], means[:2])
