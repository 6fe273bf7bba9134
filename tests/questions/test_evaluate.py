"""Every question about sets, items and trials: rows, promises and warnings."""

from dataclasses import replace

import numpy
import pytest
import torch

from samekind import evaluation
from samekind.data import SplitSettings, draw, prepare, read_trial_list
from samekind.decisions import Ladder, Rung
from samekind.errors import SettingError
from samekind.evaluation import Row
from samekind.inference import embed_files
from samekind.questions import evaluate_items, evaluate_run, evaluate_trials
from samekind.questions.evaluate import Cohort, EvaluationSettings, row_warnings, upside_down
from samekind.similarities import PairsNetwork
from samekind.space import MetricSpace

SETTINGS = EvaluationSettings(tasks=2, way=2, shots=(1,), ranks=(1, 500))
HOW = {"tasks": 2, "way": 2, "shots": (1,), "ranks": (1, 500)}
POINTS = ([0, 10, 20, 80, 90, 100], ["right"] * 3 + ["up"] * 3)


@pytest.fixture
def sets(items_at):
    """Points of two classes; the others are unseen."""
    degrees = list(range(0, 240, 3))
    labels = [("right", "up", "down", "left")[angle // 60] for angle in degrees]
    return prepare(items_at(degrees, labels), SplitSettings(unseen=["down", "left"]))


def test_items_get_every_row_with_its_note(plane, items_at):
    items = items_at(*POINTS)
    answer = evaluate_items(plane, items, SETTINGS, name="plane", note="of the page")
    expected = evaluation.evaluate(plane, {"points": items}, **HOW)
    assert [row._replace(note="") for row in answer.rows] == expected
    assert {row.note for row in answer.rows} == {"of the page"}
    assert answer.warnings == (*upside_down(expected), *evaluation.left_out(expected, (1, 500)))
    assert any("Recall@500" in sentence for sentence in answer.warnings)
    assert answer.to_json() == {
        "gains": {"plane": []},
        "choices": {"plane": None},
        "systems": {"plane": [row._asdict() for row in answer.rows]},
        "warnings": {"plane": answer.warnings},
        "promises": [],
    }


def test_a_space_that_the_house_recipe_left_at_its_start_says_so(plane, sets):
    rungs = [Rung(name, 0.5, 0.2, "cosine", "cosine", 1.0) for name in ("raw input", "encoder trained")]
    said = {}
    for rung in rungs:
        plane.ladder = Ladder(tuple(rungs), rung.name, "2 folds")
        answer = evaluate_run(plane, sets, SETTINGS, name="plane")
        assert answer.verdict.startswith(evaluation.verdict_in_words(answer.gains))
        said[rung.name] = "The house recipe kept that start: " in answer.verdict
    assert said == {"raw input": True, "encoder trained": False}


def test_promises_can_be_left_out(plane, items_at, threshold):
    plane.decisions = {"similarity": threshold(0.5)}
    items = items_at(*POINTS)
    for settings, count in ((SETTINGS, 1), (replace(SETTINGS, promises=False), 0)):
        assert len(evaluate_items(plane, items, settings, name="plane").promises) == count


def test_a_run_gets_the_baselines_without_training_too(plane, sets):
    answer = evaluate_run(plane, sets, SETTINGS, name="plane", note="selected on test")
    own = evaluation.evaluate(plane, sets.tests(), **HOW)
    references = evaluation.references(sets.train, sets.tests())
    assert [*answer.rows] == [*(row._replace(note="selected on test") for row in own), *references]
    without = evaluate_run(plane, sets, replace(SETTINGS, references=False), name="plane")
    assert [*without.rows] == own


def test_draws_some_items_of_each_set(plane, sets):
    settings = replace(SETTINGS, limit=12, references=False)
    tests = {name: draw(items, most=12) for name, items in sets.tests().items()}
    rows = evaluate_run(plane, sets, settings, name="plane").rows
    assert [*rows] == evaluation.evaluate(plane, tests, **HOW)


def test_adds_enrolment_and_a_gallery(plane, sets):
    settings = replace(
        SETTINGS, enrol=2, combination="max", gallery="train", measures="all", references=False
    )
    rows = evaluate_run(plane, sets, settings, name="plane").rows
    expected = evaluation.evaluate(plane, sets.tests(), measures="all", **HOW)
    for name, items in sets.tests().items():
        how = {"name": name, "shots": 2, "combination": "max", "measures": "all"}
        expected += evaluation.enrolled(plane, items, items.inputs, **how)
    # Unseen classes have no item in training, so nobody searches for them there.
    pair = sets.test, sets.test.inputs, sets.train, sets.train.inputs
    expected += evaluation.query_gallery(plane, *pair, name="seen in train", ks=(1, 500), measures="all")
    assert [*rows] == expected


def test_a_cohort_adds_normalised_verification(plane, sets):
    settings, cohort = replace(SETTINGS, references=False), Cohort(torch.randn(9, 2), "s", 5)
    plain, rows = (
        evaluate_run(plane, sets, settings, name="plane", cohort=strangers).rows
        for strangers in (None, cohort)
    )
    expected = [
        row
        for name, items in sets.tests().items()
        for row in evaluation.normalised(plane, items, items.inputs, cohort.z, name=name, form="s", top=5)
    ]
    assert rows == (*plain, *expected)


def test_verifies_the_trials_of_a_list(plane, tmp_path):
    for angle in (0, 10, 80, 90):
        radians = numpy.deg2rad(angle)
        point = numpy.array([numpy.cos(radians), numpy.sin(radians)], dtype=numpy.float32)
        numpy.save(tmp_path / f"{angle}.npy", point)
    pairs = ("1 0.npy 10.npy", "0 0.npy 80.npy", "1 80.npy 90.npy", "0 10.npy 90.npy")
    (tmp_path / "list.txt").write_text("\n".join(pairs))
    trials, cohort = read_trial_list(tmp_path / "list.txt"), Cohort(torch.randn(9, 2))
    answer = evaluate_trials(plane, trials, SETTINGS, name="plane", title="list", cohort=cohort)
    z = embed_files(plane, trials.files)
    expected = evaluation.listed_trials(plane, trials, z, name="list")
    expected += evaluation.normalised_list(plane, trials, z, cohort.z, name="list")
    with pytest.raises(SettingError, match="has no gallery"):
        evaluate_trials(plane, trials, SETTINGS, name="plane", title="list", cohort=Cohort(None))
    assert [*answer.rows] == expected


def test_a_network_over_pairs_is_compared_with_better_cosines_too(plane, sets):
    torch.manual_seed(0)
    network = MetricSpace(plane.encoder, PairsNetwork(dimension=2, hidden=4), plane.prototypes).eval()
    everything = replace(SETTINGS, measures="all", ranks=(1,))
    answer = evaluate_run(network, sets, everything, name="network", note="selected on test")
    better = [row for row in answer.rows if row.kind in ("centred cosine", "AS-norm cosine")]
    assert {(row.items, row.kind) for row in better} == {
        (name, kind) for name in sets.tests() for kind in ("centred cosine", "AS-norm cosine")
    }
    assert {"EER", "Recall@1", "MAP@R"} <= {str(row.measure) for row in better}
    assert {row.note for row in better} == {"selected on test"}
    for space, settings in ((plane, everything), (network, replace(everything, references=False))):
        rows = evaluate_run(space, sets, settings, name="plain").rows
        assert not {"centred cosine", "AS-norm cosine"} & {row.kind for row in rows}


def test_warns_of_what_must_not_be_used_and_of_what_training_does_not_improve():
    wrong = Row("open set", "seen, unseen", "AUROC", "cosine", 0.2, 0.1, 0.3, "items")
    assert row_warnings([wrong._replace(high=0.7)]) == []
    [line] = row_warnings([wrong])
    assert line.startswith("unknown items look more familiar than known ones by cosine (")
    own = Row("classification", "seen", "accuracy", "similarity", 0.5, 0.4, 0.6)
    [line] = row_warnings([own, Row("reference", "seen", "accuracy", "nearest raw input", 0.7)])
    assert line.startswith("accuracy, seen: 50.00% by similarity does not beat 70.00% by nearest raw input")
