"""Feature spaces beside inputs: an unchanged space has the distances of its inputs, and loops agree."""

import pytest
import torch
from scipy.stats import spearmanr
from torch import nn

from samekind.data import clusters
from samekind.evaluation.representation import (
    DENSITY,
    DIRECTIONS,
    INTER,
    INTRA,
    MC_L2,
    MC_LINF,
    MEAN,
    NEIGHBOUR,
    PHI,
    SEPARATION,
    apart,
    by_ranks,
    correlations,
    evened,
    of_inputs,
    of_space,
    points_of,
)  # fmt: skip
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


class Mapped(nn.Module):
    dimension = 4

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def space_of(function):
    return MetricSpace(Mapped(function), Cosine(), SupportMeans(dimension=4)).eval()


@pytest.fixture(scope="module")
def points():
    train, test = (clusters(classes=3, items=count, dimension=4, spread=0.6, seed=1) for count in (20, 8))
    return points_of(train, test, most=40)


def test_pairs_within_classes_over_pairs_of_centres_by_loops(points):
    z = torch.nn.functional.normalize(points.x.double(), dim=1)
    own, centres = [], []
    for label in points.labels.unique():
        members = z[points.labels == label]
        own += [float(1 - a @ b) for i, a in enumerate(members) for j, b in enumerate(members) if i != j]
        centres.append(torch.nn.functional.normalize(members.mean(0), dim=0))
    apart_ = [float(1 - a @ b) for i, a in enumerate(centres) for j, b in enumerate(centres) if i != j]
    expected = (sum(own) / len(own)) / (sum(apart_) / len(apart_))
    assert of_space(space_of(lambda x: x), points)[DENSITY] == pytest.approx(expected, rel=1e-4)


def test_classes_of_one_item_have_no_density():
    train = clusters(classes=3, items=1, dimension=4, seed=1)
    assert DENSITY not in of_space(space_of(lambda x: x), points_of(train, train))


def test_points_are_drawn_evenly(points):
    assert sorted(torch.bincount(points.labels).tolist()) == [13, 13, 14]
    assert points.x.shape == (40, 4)


def test_an_unchanged_space_keeps_all_distances(points):
    measures = of_space(space_of(lambda x: x), points)
    assert measures[MC_L2] == pytest.approx(1)
    assert measures[MC_LINF] < 1


def test_the_mean_correlation_is_that_of_rows(points):
    space = space_of(lambda x: x.tanh() * torch.tensor([3.0, 1.0, 0.2, 1.0]))
    z = space.encoder(points.x)
    rows = [
        spearmanr(
            torch.cdist(z[i : i + 1], z)[0].numpy(), torch.cdist(points.x[i : i + 1], points.x)[0].numpy()
        )
        for i in range(len(z))
    ]
    expected = torch.tensor([row.statistic for row in rows]).atanh().mean().tanh().item()
    assert of_space(space, points)[MC_L2] == pytest.approx(expected, abs=1e-4)


def test_of_inputs_by_loops(points):
    x, labels = points.x, points.labels
    means = torch.stack([x[labels == k].mean(0) for k in range(3)])
    for metric, length in {"l2": lambda v: v.norm(), "linf": lambda v: v.abs().max()}.items():
        measures = of_inputs(points, metric)
        between = [length(means[j] - means[k]) ** 2 for j in range(3) for k in range(3) if j != k]
        within = [
            torch.stack([length(row - means[k]) ** 2 for row in x[labels == k]]).mean() for k in range(3)
        ]
        assert measures[INTER] == pytest.approx(torch.stack(between).mean().item(), rel=1e-5)
        assert measures[INTRA] == pytest.approx(torch.stack(within).mean().item(), rel=1e-5)
        assert measures[PHI] == pytest.approx(measures[INTER] / measures[INTRA])
        nearest = [min(range(len(x)), key=lambda i, q=q: length(x[i] - q).item()) for q in points.queries]
        right = [labels[i] == y for i, y in zip(nearest, points.test.labels, strict=True)]
        assert measures[NEIGHBOUR] == pytest.approx(sum(right) / len(right))
        nearest = [min(range(3), key=lambda k, q=q: length(means[k] - q).item()) for q in points.queries]
        right = [k == y for k, y in zip(nearest, points.test.labels, strict=True)]
        assert measures[MEAN] == pytest.approx(sum(right) / len(right))


def test_evened_directions_are_alike_and_power_zero_changes_nothing():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(500, 3, generator=generator) * torch.tensor([9.0, 3.0, 0.5]) + 5
    spread = evened(z, z, power=1.0).std(0)
    assert (spread.max() / spread.min()).item() == pytest.approx(1, abs=0.01)
    torch.testing.assert_close(evened(z, z, power=0.0), z - z.mean(0), atol=1e-4, rtol=1e-4)


def test_even_directions_separate_classes_less(points):
    """Section 6.2.3: the first directions are those that tell classes apart."""
    space = space_of(lambda x: x)
    assert of_space(space, points, power=1.0)[SEPARATION] < of_space(space, points, power=0.0)[SEPARATION]


def test_correlations_have_both_coefficients_and_leave_out_what_does_not_vary():
    rows = [{MC_L2: a, PHI: b, DIRECTIONS: 7.0} for a, b in ((0.1, 9.0), (0.2, 5.0), (0.3, 4.0))]
    answer = correlations(rows)
    assert list(answer) == [PHI]
    assert answer[PHI]["Spearman"][0] == pytest.approx(-1)
    assert answer[PHI]["Pearson"][0] == pytest.approx(-0.944911, abs=1e-5)
    assert correlations(rows[:2]) == {}


@pytest.mark.parametrize(
    ("x", "y", "chance"),
    [
        ((1, 2, 3), (7, 8, 9), 2 / 6),  # not 0, which the usual formula gives
        ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1), 2 / 120),
        ((1, 2, 3, 4), (1, 2, 4, 3), 8 / 24),  # 1 order at 1, 3 at 0.8, and as many below 0
    ],
)
def test_few_spaces_in_order_prove_little(x, y, chance):
    coefficient, found = by_ranks(x, y)
    assert coefficient == pytest.approx(spearmanr(x, y).statistic)
    assert found == pytest.approx(chance)


def test_of_many_spaces_the_usual_p_value_is_taken():
    x, y = torch.randn(2, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64).tolist()
    assert by_ranks(x, y) == pytest.approx(tuple(spearmanr(x, y)))


def test_distances_in_parts_are_the_same():
    x = torch.randn(600, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(apart(x, x[:5], "linf"), (x[:, None] - x[:5]).abs().amax(2))
