"""The Voronoi cell cut with a ball: the nearest data point never changes, in l1, l2 and linf."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samekind.attacks import PGD, Limits, Logits
from samekind.attacks.regions import L1, L2, Combined, Linf, Neighbours, Voronoi
from samekind.errors import SettingError
from samekind.measures import adversarial_distances

#: The toy set of paper III.
TOY = torch.tensor([(-1, -1), (-2, 1), (2, -2), (1, 1), (2, -1), (0, 0), (2, 1), (1, -1)], dtype=torch.double)
CLASSES = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1])
BALLS = {1: L1, 2: L2, math.inf: Linf}
#: Data on a grid: the plain differences of a test lose the digits of places that are nearly one.
QUARTERS = st.integers(-16, 16).map(lambda number: number / 4)


def toy(epsilon, ball=L2):
    return Voronoi(ball(epsilon), Neighbours(TOY))


def nearest_changes(x, clean, data, order):
    """Whether another data point is as near as the clean item, or nearer: a loop over differences."""
    changes = []
    for point, own in zip(x.double(), clean.double(), strict=True):
        others = [other for other in data.double() if not torch.equal(other, own)]
        distances = [float((point - other).norm(p=order)) for other in others]
        changes.append(bool(distances) and min(distances) <= float((point - own).norm(p=order)))
    return changes


@pytest.mark.parametrize("order", BALLS)
@settings(max_examples=40)
@given(
    data=arrays.arrays("float64", (6, 3), elements=QUARTERS),
    moved=arrays.arrays("float64", (6, 3), elements=st.floats(-8, 8)),
    epsilon=st.floats(0.05, 6),
    single=st.booleans(),
)
def test_a_projected_point_is_in_the_ball_and_its_nearest_data_point_is_unchanged(
    order, data, moved, epsilon, single
):
    kind = torch.float32 if single else torch.float64
    data, x = torch.from_numpy(data).to(kind), torch.from_numpy(moved).to(kind)
    region = Voronoi(BALLS[order](epsilon), Neighbours(data))
    projected = region.project(x, data)
    assert region.contains(projected, data).all()
    assert ((projected - data).norm(p=order, dim=1) <= epsilon * (1 + 1e-5) + 1e-5).all()
    assert not any(nearest_changes(projected, data, data, order))


@pytest.mark.parametrize("order", BALLS)
def test_enough_neighbours_are_as_good_as_all_data(order):
    generator = torch.Generator().manual_seed(0)
    data = torch.rand(60, 4, generator=generator, dtype=torch.double)
    x = data + 0.5 * torch.randn(60, 4, generator=generator, dtype=torch.double)
    region = Voronoi(BALLS[order](0.2), Neighbours(data))
    near = region.neighbours.within(data, reach=0.4, order=order)
    assert near.distances.isfinite().sum(1).max() < 59
    assert not any(nearest_changes(region.project(x, data), data, data, order))
    everything = Neighbours(data).within(data, reach=math.inf, order=order)
    assert torch.equal(everything.distances.isinf(), torch.eye(60, dtype=torch.bool))


def test_the_ray_ends_at_the_nearest_wall():
    """From (1, 1) towards (2, 1) the wall is half way; away from all data there is only the ball."""
    clean = TOY[3:4]
    towards, away = torch.tensor([[1.9, 1.0]]).double(), torch.tensor([[1.0, 9.0]]).double()
    torch.testing.assert_close(
        toy(3.5).project(towards, clean), torch.tensor([[1.5, 1.0]]).double(), atol=1e-4, rtol=0
    )
    torch.testing.assert_close(toy(3.5).project(away, clean), torch.tensor([[1.0, 4.5]]).double())


@pytest.mark.parametrize(
    ("order", "best"), [(1, 3.5), (2, math.sqrt(3.5**2 - 0.5**2) + 0.5), (math.inf, 1.0)]
)
def test_an_ascent_slides_along_a_wall_to_its_end(order, best):
    """Between (0, 0) and (1, 0) the wall of l1 and l2 is x = 1/2; it is followed to where the ball ends.

    In linf all points with |y| above |x| and |x - 1| are equally near to both, so the cell ends at x + y = 1.
    """
    data = torch.tensor([[0.0, 0.0], [1.0, 0.0]]).double()
    region, x = Voronoi(BALLS[order](3.5), Neighbours(data)), data[:1].clone()
    for _ in range(100):
        x = region.project(x + 0.1, data[:1])
    assert best - 0.02 <= float(x.sum()) <= best
    assert region.contains(x, data[:1]).all()


def test_without_neighbours_in_reach_it_is_the_ball():
    x = TOY + 3
    assert torch.equal(toy(0.49).project(x, TOY), L2(0.49).project(x, TOY))
    touching = torch.tensor([[1.5, 1.0]]).double()
    assert L2(0.5).contains(touching, TOY[3:4]).all()
    assert not toy(0.5).contains(touching, TOY[3:4]).any()


def test_items_of_two_places_at_once_and_of_no_data():
    twice = Voronoi(L2(2.0), Neighbours(TOY[[3, 3, 6]]))
    projected = twice.project(TOY[3:4] + 1, TOY[3:4])
    assert twice.contains(projected, TOY[3:4]).all()
    new = torch.tensor([[0.4, 0.4]]).double()
    region = toy(1.0)
    assert not any(nearest_changes(region.project(new + 2, new), new, TOY, 2))
    assert region.project(TOY[:0], TOY[:0]).shape == (0, 2)


def test_pictures_in_single_precision():
    generator = torch.Generator().manual_seed(1)
    data = torch.rand(20, 1, 8, 8, generator=generator)
    region = Voronoi(Linf(0.9), Neighbours(data))
    x = region.start(data, generator)
    assert x.dtype == torch.float32
    assert x.shape == data.shape
    assert not any(nearest_changes(x.flatten(1), data.flatten(1), data.flatten(1), math.inf))


class NearestReference(torch.nn.Module):
    """Minus the distance to the nearest reference of each class, as logits: a classifier known exactly."""

    def __init__(self, references, names):
        super().__init__()
        self.references, self.names = references, names

    def forward(self, x):
        distances = torch.cdist(x, self.references)
        return torch.stack([-distances[:, self.names == name].amin(1) for name in (0, 1)], dim=1)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.5])
@pytest.mark.parametrize("references", [TOY, torch.stack([TOY[:5].mean(0), TOY[5:].mean(0)])])
def test_an_attack_finds_what_is_there_and_nothing_else(references, epsilon):
    """PGD in cells against exact distances: 1-NN never breaks (observation 1), the class means do at some."""
    names = CLASSES if len(references) == 8 else torch.tensor([0, 1])
    goal = Logits(NearestReference(references, names), CLASSES)
    region = toy(epsilon)
    attacked = PGD(region, steps=20, step=0.3, restarts=6)(goal, TOY, limits=Limits())
    exact = adversarial_distances(TOY, CLASSES, references=references, reference_labels=names, voronoi=True)
    assert torch.equal(attacked.succeeded, exact < epsilon)
    assert region.contains(attacked.x, TOY).all()


def test_a_ball_it_cannot_cut_is_refused():
    with pytest.raises(SettingError, match="L1, L2 or Linf, got Combined"):
        Voronoi(Combined(1.0, 0.6), Neighbours(TOY))
