"""Raw inputs as a space, and what the nearest other item keeps for sure."""

import pytest
import torch

from samekind.evaluation.raw_inputs import guaranteed_radii, raw_space


def test_the_class_means_answer():
    x, labels = torch.tensor([[0.0, 0], [0, 2], [4, 0], [4, 2]]), torch.tensor([0, 0, 1, 1])
    space = raw_space(x, labels, ["a", "b"])
    assert space.prototypes.vectors[:, 0].tolist() == [[0, 1], [4, 1]]
    assert space.classify(space.embed(torch.tensor([[1.0, 0], [3, 5]]))).classes == ["a", "b"]
    assert "similarity" in space.decisions


def test_in_units_of_a_scale():
    x, labels = torch.tensor([[0.0, 0], [10, 0]]), torch.tensor([0, 1])
    space = raw_space(x, labels, ["a", "b"], scale=torch.tensor([10.0, 1.0]))
    assert space.prototypes.vectors[:, 0].tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("order", [1.0, 2.0, torch.inf])
def test_within_the_radius_no_change_turns_the_nearest_item(order):
    generator = torch.Generator().manual_seed(0)
    x, labels = torch.randn(30, 2, generator=generator).double(), torch.arange(30) % 3
    x += 2 * labels[:, None]
    radii = guaranteed_radii(x, labels, order=order)
    assert 0 < (radii > 0).sum() < 30
    for place in range(30):
        others = torch.arange(30) != place
        change = torch.rand(200, 2, generator=generator).double() * 2 - 1
        change *= (
            0.999 * max(float(radii[place]), 0) / torch.linalg.vector_norm(change, order, 1, keepdim=True)
        )
        nearest = torch.cdist(x[place] + change, x[others], p=order).argmin(1)
        if radii[place] > 0:
            assert (labels[others][nearest] == labels[place]).all()
        else:
            assert (labels[others][nearest] != labels[place]).any()


def test_an_item_alone_in_its_class_is_wrong():
    assert guaranteed_radii(torch.tensor([[0.0], [1.0], [1.1]]), torch.tensor([0, 1, 1]), order=2.0)[0] < 0
