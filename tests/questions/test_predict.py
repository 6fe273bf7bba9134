"""The class of every item, with the runner-up."""

import sys

import pytest

from samekind.decisions import Temperature
from samekind.errors import SpaceError
from samekind.questions import predict
from samekind.questions.identify import NO_THRESHOLD, NONE
from samekind.space import MetricSpace

#: The module, whose name is that of the function, too.
predict_module = sys.modules["samekind.questions.predict"]


def test_names_class_and_runner_up_and_counts_the_right_ones(plane, at):
    answer = predict(plane, at([10, 80, 100], ["right", "right", "elsewhere"]))
    assert [prediction.name for prediction in answer.predictions] == ["right", "up", "up"]
    assert [prediction.runner_up for prediction in answer.predictions] == ["up", "right", "left"]
    assert (answer.judged, answer.accuracy, answer.none) == (2, 0.5, None)
    assert answer.warnings == (NO_THRESHOLD,)
    assert list(answer.columns()) == [
        "id",
        "label",
        "class",
        "probability",
        "runner_up",
        "runner_up_probability",
    ]
    assert answer.to_json()["accuracy"] == 0.5


def test_none_of_these_has_the_best_class_as_runner_up(plane, at, threshold):
    plane.open_set = threshold(0.9)
    answer = predict(plane, at([10, 50]))
    assert [prediction.name for prediction in answer.predictions] == ["right", NONE]
    assert (answer.predictions[1].runner_up, answer.none, answer.warnings) == ("up", 1, ())
    assert answer.columns()["score"] == pytest.approx((0.985, 0.766), abs=1e-3)
    assert "label" not in answer.columns()
    assert answer.accuracy is None


def test_a_space_of_one_class_has_no_runner_up(plane, at):
    for name in ("up", "left"):
        plane.remove(name)
    [only] = predict(plane, at([10])).predictions
    assert (only.name, only.runner_up, only.runner_up_probability) == ("right", None, None)


def test_the_only_class_is_the_runner_up_of_none_of_these(plane, at, threshold):
    for name in ("up", "left"):
        plane.remove(name)
    plane.open_set = threshold(1.1)
    [only] = predict(plane, at([10])).predictions
    assert (only.name, only.runner_up) == (NONE, "right")
    assert only.probability + only.runner_up_probability == pytest.approx(1)


def test_a_temperature_that_makes_all_alike_does_not_change_the_class(plane, at):
    """Sorted by these probabilities, every item would be of the first class."""
    plane.temperatures["similarity"] = Temperature(1e12, "made up", 40)
    answer = predict(plane, at([80, 170]))
    assert [prediction.name for prediction in answer.predictions] == ["up", "left"]
    assert [prediction.probability for prediction in answer.predictions] == pytest.approx([1 / 3] * 2)
    assert all(prediction.runner_up != prediction.name for prediction in answer.predictions)


@pytest.mark.parametrize(("kind", "times"), [(None, 1), ("similarity", 1), ("cosine", 2)])
def test_scores_every_class_once(plane, at, threshold, monkeypatch, kind, times):
    """With a network over pairs, that is what takes the time."""
    plane.open_set = None if kind is None else threshold(0.5, kind=kind)
    score_classes, calls = MetricSpace.score_classes, []

    def counted(*arguments, **options):
        calls.append(options)
        return score_classes(*arguments, **options)

    monkeypatch.setattr(MetricSpace, "score_classes", counted)
    predict(plane, at(range(5)))
    assert len(calls) == times


def test_refuses_a_head_that_the_space_does_not_have(plane, at):
    with pytest.raises(SpaceError, match='this space has no head "auxiliary"'):
        predict(plane, at([10]), head="auxiliary")


def test_many_items_are_named_in_batches(plane, at, monkeypatch):
    """All probabilities at once would be many numbers where thousands of classes are enrolled."""
    items = at([3, 170, 80, 100, 45, 200, 91], ["right", "left", "up", "up", "down", "left", "right"])
    expected, sizes = predict(plane, items), []
    classify = plane.classify
    monkeypatch.setattr(predict_module, "BATCH", 3)
    monkeypatch.setattr(plane, "classify", lambda z, **how: sizes.append(len(z)) or classify(z, **how))
    assert predict(plane, items) == expected
    assert sizes == [3, 3, 1]
