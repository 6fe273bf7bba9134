"""The robustness of a space: all questions on a few digits, the reference, samples; and a space that hides
its gradients.
"""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import digits, prepare
from samekind.encoders import MLP
from samekind.errors import DataError
from samekind.evaluation.raw_inputs import guaranteed_radii
from samekind.evaluation.robustness import Budget, _shown_apart, known_items, robustness, subject_of
from samekind.evaluation.soundness import NOT_A_MEASURE
from samekind.evaluation.under_attack import Strength
from samekind.inference import settle
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

STRENGTH = Strength((0.05, 0.3), steps=8)


class Coarse(nn.Module):
    """Pixels of four greys: nearly everywhere without a slope."""

    dimension = 64

    def forward(self, x):
        return ((3 * x).round() / 3 + 0 * x).flatten(1)


def space_by(encoder, sets):
    space = MetricSpace(encoder, Euclidean(), SupportMeans(dimension=encoder.dimension))
    settle(space, sets.train, sets.validation)
    return space


@pytest.fixture(scope="module")
def sets():
    return prepare(digits().take(torch.arange(500)), seed=0)


@pytest.fixture(scope="module")
def space(sets, few_draws):
    """Untrained, with means of the training items as prototypes: still right nine times in ten."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return space_by(MLP(inputs=64, hidden=[64], dimension=32), sets)


@pytest.fixture(scope="module")
def measured(space, sets):
    told = []
    answer = robustness(space, sets.test, STRENGTH, name="test", most=24, tell=told.append)
    return answer, told


def test_every_question_has_its_curve(measured):
    answer, told = measured
    assert [(curve.question, curve.measure) for curve in answer.curves] == [
        ("class", "adversarial accuracy"),
        ("class", "Voronoi adversarial accuracy"),
        ("pair", "adversarial EER"),
        ("neighbour", "adversarial Recall@1"),
        ("enrolment", "attack success on enrolment"),
    ]
    assert len(told) == 6
    assert told[0].startswith("attacks on 24 items take about ")
    assert answer.unit == "in the range of a pixel, 0 to 1"
    assert answer.items == 24
    assert len(answer.rows) == 3 * 5 + 1  # one more for global robustness


def test_the_reference_is_what_the_nearest_other_item_keeps(measured, space, sets):
    subject, _, _ = subject_of(space, sets.test, STRENGTH, name="test", most=24)
    radii = guaranteed_radii(subject.inputs.x, subject.labels, order=torch.inf)
    assert measured[0].guaranteed == tuple(
        float((radii > epsilon).double().mean()) for epsilon in (0, 0.05, 0.3)
    )


def test_samples_were_named_rightly_before(measured):
    samples = measured[0].samples
    assert samples.before[0] == samples.truth[0] != samples.after[0]
    change = (samples.attacked - samples.clean).abs().max()
    assert 0 < float(change) <= samples.epsilon + 1e-6


def test_a_space_that_hides_its_gradients_is_not_measured(sets, few_draws):
    answer = robustness(
        space_by(Coarse(), sets), sets.test, STRENGTH, name="test", most=40, questions=["class"], cells=False
    )
    [curve] = answer.curves
    assert not curve.soundness.is_sound
    assert all(row.note.startswith(NOT_A_MEASURE) for row in curve.rows[1:])


def test_heads_shown_at_different_epsilons_are_not_to_be_compared(measured):
    one, *_ = measured[0].curves
    other = replace(one, checked=3 - one.checked)
    assert _shown_apart([one, one]) == []
    [note] = _shown_apart([one, other])
    assert "(0.05, 0.3)" in note
    assert _shown_apart([one, replace(other, question="pair")]) == []


def test_a_budget_makes_it_small_and_says_so(space, sets):
    """No time at all: the fewest items and steps there are, and the first curve alone."""
    told = []
    answer = robustness(
        space,
        sets.test,
        replace(STRENGTH, steps=15),
        name="test",
        budget=Budget(0.0, one_epsilon=True),
        tell=told.append,
    )
    assert [curve.measure for curve in answer.curves] == ["adversarial accuracy"]
    assert (answer.items, answer.strength.steps, answer.strength.epsilons) == (20, 10, (0.3,))
    assert answer.notes[0].startswith("20 items, 10 steps and 1 epsilon, to end within about 1 second")
    assert "no curve of: pair, similarity; neighbour, " in answer.notes[1]
    assert answer.notes[1].endswith("class, similarity in Voronoi cells (--minutes)")
    assert len(told) == 2
    whole = robustness(
        space, sets.test, STRENGTH, name="test", most=12, questions=["class"], budget=Budget(1e6), cells=False
    )
    assert (whole.items, whole.strength, whole.notes) == (12, STRENGTH, ())


def test_every_head_has_its_cells(sets, few_draws):
    space = space_by(MLP(inputs=64, hidden=[16], dimension=8), sets)
    means = SupportMeans(dimension=8)
    means.assign(space.classes, space.prototypes.vectors.detach())
    space.auxiliary = AuxiliaryHead(Euclidean(), means)
    answer = robustness(space, sets.test, Strength((0.1,), steps=2), name="test", most=8, questions=["class"])
    heads = ["similarity", "auxiliary", "fused"]
    assert [curve.kind for curve in answer.curves] == heads + heads
    assert [curve.measure.startswith("Voronoi") for curve in answer.curves] == [False] * 3 + [True] * 3


def test_without_a_threshold_pairs_are_left_out(space, sets):
    bare = MetricSpace(space.encoder, space.similarity, space.prototypes)
    answer = robustness(bare, sets.test, STRENGTH, name="test", most=12, questions=["pair"])
    assert answer.curves == ()
    assert "no threshold" in answer.notes[0]


def test_a_single_item_of_a_class_has_no_pair_and_no_neighbour(space, sets):
    apart = sets.test.take(torch.tensor([sets.test.labels.tolist().index(label) for label in range(4)]))
    answer = robustness(space, apart, Strength((0.1,), steps=2), name="test", most=4, cells=False)
    assert [curve.question for curve in answer.curves] == ["class"]
    assert any("take two classes with two attacked items each" in note for note in answer.notes)


def test_items_of_unknown_classes_are_left_out(space, sets):
    few = MetricSpace(space.encoder, space.similarity, SupportMeans(dimension=32))
    few.prototypes.assign(["0", "1"], space.prototypes.vectors[:2].detach())
    items, notes = known_items(few, sets.test)
    assert set(items.labels.tolist()) == {0, 1}
    assert notes == [f"{len(sets.test) - len(items)} items of unknown classes were left out"]
    with pytest.raises(DataError, match=r"it knows none of .*: give data of its own"):
        known_items(few, sets.test.only(["7", "8"]))


def test_a_surrogate_must_know_the_classes(space, sets):
    few = MetricSpace(space.encoder, space.similarity, SupportMeans(dimension=32))
    with pytest.raises(DataError, match="all classes"):
        robustness(space, sets.test, STRENGTH, name="test", surrogate=few)
