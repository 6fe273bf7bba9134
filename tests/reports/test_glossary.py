"""The glossary: every measure of an evaluation is explained, once."""

import doctest

from samekind.data import clusters
from samekind.evaluation import evaluate
from samekind.reports import glossary
from samekind.reports.glossary import meanings


def test_every_measure_of_an_evaluation_is_explained(space_for):
    items = clusters(classes=3, items=20, dimension=4)
    measures = [row.measure for row in evaluate(space_for(items), {"seen": items}, tasks=2)]
    assert len(set(measures)) > 6
    assert all(meanings([measure]) for measure in measures)


def test_accuracy_at_a_threshold_is_not_that_of_classes():
    assert list(meanings(["accuracy at threshold"])) == ["Accuracy at threshold"]
    assert list(meanings(["accuracy"])) == ["Accuracy"]


def test_an_unknown_measure_is_left_out():
    assert meanings(["a new one"]) == {}


def test_doctests():
    assert doctest.testmod(glossary).failed == 0
