"""Smoothed spaces: a linear one, whose true radius is the distance to its boundary; limits; the rows."""

import pytest
import torch
from torch import nn

from samekind.attacks import Limits
from samekind.data import Items
from samekind.errors import SettingError
from samekind.evaluation.smoothing import Smoothing, certify, in_range
from samekind.prototypes import SupportMeans
from samekind.similarities import SquaredEuclidean
from samekind.space import MetricSpace


class Passing(nn.Module):
    dimension = 2

    def forward(self, x):
        return x


def halves(count=20):
    """Points left and right of a line: the nearest of two prototypes at (-1, 0) and (1, 0)."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(count, 2, generator=generator) * 4 - 2
    items = Items(x, (x[:, 0] > 0).long(), ("left", "right"), name="halves")
    prototypes = SupportMeans(dimension=2)
    prototypes.assign(["left", "right"], torch.tensor([[[-1.0, 0.0]], [[1.0, 0.0]]]))
    return MetricSpace(Passing(), SquaredEuclidean(), prototypes).eval(), items


def test_a_linear_space_is_certified_nearly_to_its_boundary(monkeypatch):
    space, items = halves()
    monkeypatch.setattr("samekind.evaluation.smoothing.in_range", lambda noisy, _limits, _x: noisy)
    deviations = items.inputs.std(0, correction=0)
    answer = certify(space, items, Smoothing(0.5, draws=4000), most=len(items))
    # The unit is a deviation of a column, and only the first column matters.
    distances = items.inputs[:, 0].abs() / deviations[0]
    assert bool((answer.radii <= distances + 1e-6).all())
    near = (distances < 0.9) & (distances > 0.1)
    assert bool((answer.radii > distances - 0.25)[near].all())
    assert bool(answer.right[answer.radii > 0].all())


def test_the_curve_falls_from_the_accuracy_to_zero():
    space, items = halves()
    answer = certify(space, items, Smoothing(0.25, draws=100))
    values = [row.value for row in answer.rows]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.5 > values[-1] == 0
    content = answer.to_json()
    assert [point["mean"] for point in content["points"]] == values
    assert content["items"] == len(items)


def test_no_radius_is_above_the_largest_possible_one():
    space, items = halves()
    far = Items(torch.tensor([[-60.0, 0.0], [60.0, 0.0]]), torch.tensor([0, 1]), items.classes, name="far")
    few, many = (certify(space, far, Smoothing(0.25, draws=draws)) for draws in (50, 500))
    for answer in (few, many):
        assert answer.radii.tolist() == pytest.approx([answer.largest] * 2)
        assert answer.to_json()["largest possible radius"] == answer.largest
    assert 0.2 < few.largest < many.largest


def test_the_same_seed_gives_the_same_radii():
    space, items = halves()
    first, again, other = (certify(space, items, Smoothing(0.25, draws=50, seed=seed)) for seed in (0, 0, 1))
    assert torch.equal(first.radii, again.radii)
    assert not torch.equal(first.radii, other.radii)


def test_noise_stays_in_the_range_and_leaves_fixed_numbers():
    x = torch.tensor([0.0, 1.0, 0.5])
    noisy = in_range(x + 3.3, Limits(0.0, 1.0, fixed=torch.tensor([False, False, True])), x)
    assert noisy.tolist() == [1.0, 1.0, 0.5]
    whole = Limits(0.0, 9.0, integer=torch.tensor([True, True, True]))
    assert in_range(x + 0.25, whole, x).tolist() == [0.25, 1.25, 0.75]


@pytest.mark.parametrize("smoothing", [Smoothing(0.0), Smoothing(0.1, draws=0)])
def test_noise_of_no_size_is_refused(smoothing):
    space, items = halves()
    with pytest.raises(SettingError, match="sigma"):
        certify(space, items, smoothing)
