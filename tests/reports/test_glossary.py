"""The glossary: every measure of an evaluation is explained, once."""

import doctest

import pytest

from samekind.data import clusters
from samekind.evaluation import evaluate
from samekind.reports import glossary
from samekind.reports.glossary import meanings


def test_every_measure_of_an_evaluation_is_explained(space_for):
    items = clusters(classes=3, items=20, dimension=4)
    rows = evaluate(space_for(items), {"seen": items}, tasks=2, measures="all")
    measures = [row.measure for row in rows]
    assert len(set(measures)) > 14
    assert all(meanings([measure]) for measure in measures)


def test_accuracy_at_a_threshold_is_not_that_of_classes():
    assert list(meanings(["accuracy at threshold"])) == ["Accuracy at threshold"]
    assert list(meanings(["accuracy"])) == ["Accuracy"]


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        ("DIR at 1% FAR", "DIR"),
        ("FAR at threshold", "FAR at threshold"),
        ("macro F1", "Macro F1"),
        ("F1", "F1"),
        ("AUROC", "AUROC"),
        ("false alarms at threshold", "False alarms at threshold"),
        ("5-way 1-shot", "N-way K-shot"),
        ("5-way 1-shot known", "N-way K-shot known"),
        ("5-way 5-shot new", "N-way K-shot new"),
        ("5-way 5-shot harmonic mean", "N-way K-shot harmonic mean"),
    ],
)
def test_a_measure_is_not_taken_for_one_of_a_similar_name(measure, name):
    assert list(meanings([measure])) == [name]


def test_an_unknown_measure_is_left_out():
    assert meanings(["a new one"]) == {}


def test_doctests():
    assert doctest.testmod(glossary).failed == 0
