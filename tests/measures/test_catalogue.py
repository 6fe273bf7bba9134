"""The catalogue: every measure of an evaluation is in it, with a direction, a unit and a meaning."""

import doctest

import pytest
from torch import nn

from samekind.data import clusters
from samekind.evaluation import evaluate
from samekind.evaluation.validation import FAMILIES, MEASURES, validation
from samekind.inference import settle
from samekind.measures import catalogue
from samekind.measures.catalogue import measure_named, of_epoch, write_epoch
from samekind.measures.measure import Measure
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

#: Members of the families, by the names that stored evaluations have.
MEMBERS = {
    "Recall@1": catalogue.recall(1),
    "Recall@100": catalogue.recall(100),
    "MRR@8": catalogue.reciprocal_rank(8),
    "MAP@8": catalogue.average_precision_at(8),
    "DIR at 1% FAR": catalogue.identification_rate(0.01),
    "DIR at 0.1% FAR": catalogue.identification_rate(0.001),
    "minDCF at 1%": catalogue.least_detection_cost(0.01),
    "5-way 1-shot": catalogue.few_shot(5, 1),
    "20-way 10-shot": catalogue.few_shot(20, 10),
    "5-way 1-shot known": catalogue.few_shot_beside_known(5, 1, "known"),
    "5-way 5-shot new": catalogue.few_shot_beside_known(5, 5, "new"),
    "5-way 5-shot harmonic mean": catalogue.few_shot_beside_known(5, 5, "harmonic mean"),
    "adversarial accuracy at 8/255": catalogue.attacked("adversarial accuracy", "8/255"),
    "adversarial EER at 0.3": catalogue.attacked("adversarial EER", "0.3"),
}


@pytest.fixture(scope="module")
def items():
    return clusters(classes=3, items=20, dimension=4)


@pytest.fixture(scope="module")
def space(items):
    space = MetricSpace(nn.Flatten(), Euclidean(), SupportMeans(dimension=4))
    settle(space, items, items)
    return space


def test_every_measure_of_an_evaluation_is_explained(space, items):
    rows = evaluate(space, {"seen": items}, tasks=2, measures="all")
    assert len({row.measure for row in rows}) > 14
    for row in rows:
        assert isinstance(row.measure, Measure), row
        assert row.entry.meaning, row


def test_a_name_that_was_stored_leads_back_to_its_measure():
    assert {"accuracy", "EER", "Cllr", "NMI"} <= catalogue.MEASURES.keys()
    for name, measure in {**MEMBERS, **catalogue.MEASURES}.items():
        assert measure == name
        assert vars(measure_named(str(name))) == vars(measure)
        assert measure_named(measure) is measure


def test_an_unknown_name_is_a_share_of_which_more_is_better():
    measure = measure_named("of my own")
    assert (measure, measure.better, measure.is_share, measure.meaning) == ("of my own", "higher", True, "")


@pytest.mark.parametrize(
    ("name", "better", "is_share", "family"),
    [
        ("accuracy", "higher", True, "accuracy"),
        ("accuracy at threshold", "higher", True, "accuracy at threshold"),
        ("EER", "lower", True, "EER"),
        ("FAR at threshold", "lower", True, "FAR at threshold"),
        ("false alarms at threshold", "lower", True, "false alarms at threshold"),
        ("ECE", "lower", True, "ECE"),
        ("ECE, uncalibrated", "lower", True, "ECE, uncalibrated"),
        ("minDCF at 1%", "lower", False, "minDCF at 1%"),
        ("Cllr", "lower", False, "Cllr"),
        ("NMI", "higher", False, "NMI"),
        ("AMI", "higher", False, "AMI"),
        ("F1", "higher", True, "F1"),
        ("macro F1", "higher", True, "macro F1"),
        ("DIR at 1% FAR", "higher", True, "DIR"),
        ("DIR at threshold", "higher", True, "DIR"),
        ("Recall@8", "higher", True, "Recall@k"),
        ("kNN accuracy", "higher", True, "kNN accuracy"),
        ("MRR@8", "higher", False, "MRR@k"),
        ("MAP@8", "higher", True, "MAP@k"),
        ("MAP@R", "higher", True, "MAP@R"),
        ("Recall@1 by class", "higher", True, "Recall@1 by class"),
        ("5-way 1-shot", "higher", True, "N-way K-shot"),
        ("5-way 1-shot new", "higher", True, "N-way K-shot new"),
    ],
)
def test_direction_unit_and_family(name, better, is_share, family):
    measure = measure_named(name)
    assert (measure.better, measure.is_share, measure.family) == (better, is_share, family)


def test_what_a_run_measures_after_an_epoch_is_known_by_its_key(space, items):
    result = validation(items, tuple(FAMILIES))(space)
    assert {measure.key for measures in MEASURES.values() for measure in measures} <= result.keys()
    for key in result:
        measure = of_epoch(key)
        assert measure is not None
        assert measure.key == key


def test_a_measure_of_the_users_own_is_not_taken_for_one_of_a_similar_name():
    for key in ("knn error", "recall loss", "eer margin", "nmi best", "eer cosine best", "accuracy", "EER"):
        assert of_epoch(key) is None


def test_a_measure_that_is_not_a_share_is_not_written_in_per_cent():
    assert write_epoch("nmi", 0.7935) == "NMI 0.793"
    assert write_epoch("recall@1 best", 0.7935) == "Recall@1 best 79.35%"
    assert write_epoch("my own", 0.79354) == "my own 0.7935"


def test_doctests():
    assert doctest.testmod(catalogue).failed == 0
