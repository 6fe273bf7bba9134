"""Accuracy of each head against a count."""

import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, f1_score
from torch import nn

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import clusters
from samekind.decisions import Choices, Temperature
from samekind.evaluation import Row, classification, heads, predicted_labels
from samekind.inference.discriminant import fit_discriminant
from samekind.measures import expected_calibration_error
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Dot, Euclidean, PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=6, dimension=3, spread=0.9)


def a_space(similarity=None, classes=("2", "0", "3", "1"), auxiliary=None):
    """A space that holds the classes in another order than the items do."""
    known = SupportMeans(dimension=3)
    means = [
        ITEMS.inputs[ITEMS.labels == int(name)].mean(0) if name.isdigit() else torch.ones(3)
        for name in classes
    ]
    known.assign(list(classes), torch.stack(means)[:, None])
    return MetricSpace(nn.Identity(), similarity or Euclidean(), known, auxiliary=auxiliary)


def an_auxiliary(classes=("0", "1", "2", "3")):
    torch.manual_seed(0)
    return AuxiliaryHead(Dot(), LearnedProxies(classes, dimension=3))


def by_hand(space, head):
    """How often the name the space gives is the name the item has."""
    right = 0
    for item, label in zip(ITEMS.inputs, ITEMS.labels.tolist(), strict=True):
        with torch.no_grad():
            right += space.classify(item[None], head=head).classes == [ITEMS.classes[label]]
    return right / len(ITEMS)


def test_the_accuracy_of_the_similarity_alone():
    space = a_space()
    rows = classification(space, ITEMS, ITEMS.inputs, name="seen")
    accuracy = Row("classification", "seen", "accuracy", "similarity", by_hand(space, "similarity"))
    assert [row[:4] for row in rows] == [accuracy[:4], ("classification", "seen", "macro F1", "similarity")]
    assert rows[0].value == accuracy.value
    assert 0.5 < rows[0].value < 1


@pytest.mark.parametrize("head", ["similarity", "auxiliary", "fused"])
def test_f1_and_calibration_error_against_the_plain_way(head):
    space = a_space(auxiliary=an_auxiliary())
    rows = classification(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    result = {row.measure: row.value for row in rows if row.kind == head}
    assert list(result) == ["accuracy", "macro F1", "macro recall", "ECE"]
    with torch.no_grad():
        answer = space.classify(ITEMS.inputs, head=head)
    truth = [ITEMS.classes[label] for label in ITEMS.labels]
    assert result["macro F1"] == pytest.approx(f1_score(truth, answer.classes, average="macro"))
    assert result["macro recall"] == pytest.approx(balanced_accuracy_score(truth, answer.classes))
    gap = 0.0
    confidence = answer.probabilities.amax(1).tolist()
    for low in range(15):
        inside = [i for i, value in enumerate(confidence) if low / 15 < value <= (low + 1) / 15]
        gap += abs(sum((answer.classes[i] == truth[i]) - confidence[i] for i in inside))
    assert result["ECE"] == pytest.approx(gap / len(ITEMS), abs=1e-6)


@pytest.mark.parametrize("head", ["similarity", "auxiliary", "fused"])
def test_the_calibration_error_is_that_of_the_probabilities_a_user_gets(head):
    space = a_space(auxiliary=an_auxiliary())
    before = classification(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    space.temperatures[head] = Temperature(7.0, "made up", 40)
    rows = classification(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    with torch.no_grad():
        result = space.classify(ITEMS.inputs, head=head).probabilities
    position = torch.tensor([space.classes.index(name) for name in ITEMS.classes])
    expected = expected_calibration_error(result, position[ITEMS.labels])
    [old] = [row for row in before if row not in rows and (row.measure, row.kind) == ("ECE", head)]
    # Of this head alone there are two now: with the temperature, and as it was without.
    new, plain = (row for row in rows if row not in before)
    assert (new.measure, new.kind) == ("ECE", head)
    assert plain == old._replace(measure="ECE, uncalibrated")
    assert new.value == pytest.approx(expected)
    assert new.value != pytest.approx(old.value)
    assert len(rows) == len(before) + 1


def test_intervals_are_over_items_and_fixed_by_the_seed():
    rows = classification(a_space(), ITEMS, ITEMS.inputs, name="seen", seed=3)
    assert rows == classification(a_space(), ITEMS, ITEMS.inputs, name="seen", seed=3)
    assert rows != classification(a_space(), ITEMS, ITEMS.inputs, name="seen", seed=4)
    for row in rows:
        assert 0 <= row.low < row.value < row.high <= 1
        assert row.unit == "items"


def test_no_mistake_is_no_certainty():
    """24 of 24 right: the rule of three, and no interval where there is no such rule."""
    sure = clusters(classes=4, items=6, dimension=3, spread=0.0)
    accuracy, f1 = classification(a_space(), sure, sure.inputs, name="seen")
    assert (accuracy.value, f1.value) == (1, 1)
    assert 0.8 < accuracy.low < 0.9
    assert (f1.low, f1.high, f1.unit) == (None, None, "")


def test_every_head_that_was_trained_with_the_classes_has_its_row():
    space = a_space(auxiliary=an_auxiliary())
    rows = classification(space, ITEMS, ITEMS.inputs, name="seen")
    rows = [row for row in rows if row.measure == "accuracy"]
    assert [row.kind for row in rows] == ["similarity", "auxiliary", "fused"]
    for row in rows:
        assert row.value == by_hand(space, row.kind)
    assert len({row.value for row in rows}) > 1


def test_a_head_that_lacks_a_class_has_no_row():
    space = a_space(auxiliary=an_auxiliary())
    assert heads(space) == ["similarity", "auxiliary", "fused"]
    space.enroll("new", torch.ones(1, 3))
    assert heads(space) == ["similarity"]
    assert {row.kind for row in classification(space, ITEMS, ITEMS.inputs, name="seen")} == {"similarity"}


def test_there_are_no_rows_where_the_classes_are_unknown():
    for classes in ((), ("0", "1", "2"), ("a", "b", "c", "d")):
        space = (
            a_space(classes=classes)
            if classes
            else MetricSpace(nn.Identity(), Dot(), SupportMeans(dimension=3))
        )
        assert classification(space, ITEMS, ITEMS.inputs, name="unseen") == []


def test_classes_without_items_need_not_be_known():
    """A part of a data set keeps the names of all its classes."""
    some = ITEMS.take((ITEMS.labels < 3).nonzero().flatten())
    assert some.classes == ITEMS.classes
    assert len(classification(a_space(classes=("0", "1", "2")), some, some.inputs, name="seen")) == 2


def test_a_class_the_items_do_not_have_is_a_wrong_answer():
    space = a_space(classes=("0", "1", "2", "3", "other"))
    space.prototypes.assign(space.classes, torch.cat([torch.full((4, 1, 3), 1e3), torch.zeros(1, 1, 3)]))
    assert predicted_labels(space, ITEMS, ITEMS.inputs).tolist() == [-1] * len(ITEMS)
    assert classification(space, ITEMS, ITEMS.inputs, name="seen")[0].value == 0


def test_predictions_are_indices_into_the_classes_of_the_items():
    space = a_space()
    predicted = predicted_labels(space, ITEMS, ITEMS.inputs)
    names = space.classify(ITEMS.inputs).classes
    assert [ITEMS.classes[index] for index in predicted.tolist()] == names


def test_dropout_plays_no_part_and_the_mode_is_kept():
    torch.manual_seed(0)
    space = a_space(PairsNetwork(dimension=3, hidden=8, dropout=0.9))
    at_rest = predicted_labels(space.eval(), ITEMS, ITEMS.inputs)
    assert torch.equal(predicted_labels(space.train(), ITEMS, ITEMS.inputs), at_rest)
    assert space.training


@pytest.mark.parametrize("count", [1, 5])
def test_the_rows_do_not_depend_on_the_order_of_the_items(count):
    order = torch.randperm(len(ITEMS), generator=torch.Generator().manual_seed(count))
    shuffled = ITEMS.take(order)
    expected = classification(a_space(), ITEMS, ITEMS.inputs, name="seen")
    result = classification(a_space(), shuffled, shuffled.inputs, name="seen")
    assert [row.value for row in result] == pytest.approx([row.value for row in expected])


def test_rows_say_what_names_the_classes():
    space = a_space()
    space.choices = Choices("similarity", "similarity", "cosine", "4 folds")
    assert {(row.kind, row.note) for row in classification(space, ITEMS, ITEMS.inputs, name="seen")} == {
        ("similarity", "by cosine")
    }
    space.discriminant = fit_discriminant(ITEMS.inputs, ITEMS.labels, ITEMS.classes)
    rows = classification(space, ITEMS, ITEMS.inputs, name="seen")
    assert {(row.kind, row.note) for row in rows} == {("discriminant", "")}
    assert rows[0].value == by_hand(space, "similarity")
