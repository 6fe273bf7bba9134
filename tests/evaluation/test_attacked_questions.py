"""Each question under attack, on a space whose embeddings are the items themselves: two or three clusters."""

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.decisions import Decision
from samekind.errors import DataError
from samekind.evaluation.attacked_questions import (
    class_curve,
    drawn_enrolments,
    drawn_pairs,
    enrolment_curve,
    neighbour_curve,
    pair_curve,
)
from samekind.evaluation.robustness import subject_of
from samekind.evaluation.under_attack import Strength
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

CENTRES = torch.tensor([[0.2, 0.2], [0.8, 0.2], [0.5, 0.8]])


@pytest.fixture(scope="module")
def subject():
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(24) % 3
    x = (CENTRES[labels] + 0.05 * torch.randn(24, 2, generator=generator)).clamp(0, 1)
    items = Items(x, labels, ("a", "b", "c"), "clusters")
    prototypes = SupportMeans(dimension=2)
    prototypes.assign(items.classes, CENTRES[:, None])
    space = MetricSpace(nn.Flatten(), Euclidean(), prototypes)
    space.decisions["similarity"] = Decision("similarity", -0.3, "eer", "trials", 0.0, 0.0)
    # Deviations are about 0.27, so these are changes of about 0.03, 0.2 and 0.5.
    return subject_of(space, items, Strength((0.1, 0.8, 2.0), steps=10), name="clusters", norm="l2")[0]


def values(curve):
    return [row.value for row in curve.rows]


def test_classes_fall_as_epsilon_grows(subject):
    curve, result = class_curve(subject, "similarity")
    assert curve.rows[0].measure == "accuracy"
    assert curve.rows[1].measure == "adversarial accuracy at 0.1"
    assert values(curve)[:2] == [1, 1]
    assert values(curve)[3] == 0
    assert curve.soundness.is_sound
    assert torch.equal(result.right[0], torch.ones(24, dtype=torch.bool))


def test_cells_end_in_global_robustness_and_are_never_worse(subject):
    balls, _ = class_curve(subject, "similarity")
    cells, _ = class_curve(subject, "similarity", cells=True)
    assert cells.epsilons[-1] == torch.inf
    assert cells.rows[-1].measure == "global robustness"
    assert all(cell >= ball for cell, ball in zip(values(cells)[:4], values(balls), strict=True))


def test_neighbours_pairs_and_enrolment_go_wrong(subject):
    neighbours = neighbour_curve(subject, "similarity")
    assert neighbours.rows[0].measure == "Recall@1"
    assert values(neighbours) == sorted(values(neighbours), reverse=True)
    assert values(neighbours)[0] == 1
    assert values(neighbours)[-1] == 0
    pairs = pair_curve(subject, "similarity")
    assert pairs.rows[0].measure == "EER"
    assert values(pairs) == sorted(values(pairs))
    assert values(pairs)[0] == 0
    assert values(pairs)[-1] > 0.9
    enrolment = enrolment_curve(subject, "similarity")
    assert values(enrolment)[0] == 0
    assert values(enrolment) == sorted(values(enrolment))
    assert values(enrolment)[-1] > 0.9
    assert all(curve.soundness.is_sound for curve in (neighbours, pairs, enrolment))


def test_pairs_are_half_of_one_class_and_never_of_one_item():
    labels = torch.arange(10) % 2
    first, second = drawn_pairs(labels, seed=0)
    assert (first < second).all()  # as the trials of an evaluation
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 20
    assert int((labels[first] == labels[second]).sum()) == 10


def test_enrolments_have_queries_of_their_own_and_of_another_class():
    labels = torch.tensor([0, 0, 0, 1, 1, 1, 2])
    examples, queries, same = drawn_enrolments(labels, seed=0)
    assert 6 not in examples.tolist()
    assert queries.shape == (12, 2)
    for example, row, is_same in zip(examples.tolist(), queries.tolist(), same.tolist(), strict=True):
        assert example not in row
        assert all((labels[query] == labels[example]) == is_same for query in row)
    with pytest.raises(DataError, match="two classes with two items"):
        drawn_enrolments(torch.tensor([0, 0, 1]), seed=0)
