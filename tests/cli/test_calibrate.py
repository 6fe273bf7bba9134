"""samekind calibrate: the thresholds stored are those fitted, and nothing is stored where it fails."""

import json
import shutil
from dataclasses import asdict

import pytest
import torch

from samekind.data import ImageReader, Items, collect, digits, read_trial_list, scaled, write_image
from samekind.decisions import Temperature
from samekind.evaluation.listed_trials import scored
from samekind.inference import all_trials, embed, embed_files, fit_decision, fit_open_set, fit_temperatures
from samekind.inference.known_classes import divided
from samekind.inference.points import support
from samekind.space import MetricSpace
from samekind.training import RunFolder


@pytest.fixture
def run(trained, tmp_path):
    """A copy of the run, because a calibration changes it."""
    return shutil.copytree(trained, tmp_path / "run", ignore=shutil.ignore_patterns("*.pt"))


@pytest.fixture
def space(run):
    """The space as it was before."""
    return MetricSpace.load(run / "space")


def read(folders):
    collection = collect([folders], ImageReader(height=8, width=8))
    labels = torch.tensor([["0", "1", "7"].index(label) for label in collection.labels])
    return Items(inputs=collection.inputs, labels=labels, classes=("0", "1", "7"), name="folders")


def fitted(space, items, kind, point):
    trials = all_trials(space, embed(space, items.inputs), items.labels, kind=kind)
    return fit_decision(trials, kind=kind, point=point, description=items.name)


@pytest.mark.parametrize(("point", "given"), [("far=0.01", False), ("cost=0.1:1:10", True)])
def test_fits_a_run_on_its_validation_items(samekind, run, space, point, given):
    more = [run] if given else []
    answer = samekind("calibrate", run, *more, "--at", point, "--json")
    assert answer.status == 0, answer.err
    stored = MetricSpace.load(run / "space")
    assert list(stored.decisions) == list(space.kinds)
    items = RunFolder(run).sets().validation
    for kind, decision in stored.decisions.items():
        assert decision == fitted(space, items, kind, point)
        content = json.loads(answer.out)["decisions"][kind]
        assert (content["threshold"], content["point"]) == (decision.threshold, point)
        assert content["false_accept_interval"] == list(decision.false_accept_interval)
        assert content["warning"] == support(decision)
    assert stored.open_set == space.open_set


def test_warns_that_items_of_other_classes_leave_the_temperatures(samekind, run, folders, tmp_path):
    for name, other in (("0", "nought"), ("1", "one")):
        shutil.copytree(folders / name, tmp_path / "others" / other)
    before = MetricSpace.load(run / "space").temperatures
    answer = samekind("calibrate", run, tmp_path / "others")
    assert "careful (class probabilities): 0 of the items are of classes this space knows" in answer.err
    assert MetricSpace.load(run / "space").temperatures == before != {}


def test_fits_temperatures_with_all_thresholds(samekind, run, space, folders):
    """On the 24 pictures of 0 and 1 there is too little to tell, and what was there stays."""
    items = RunFolder(run).sets().validation
    expected = fit_temperatures(space, items, embed(space, items.inputs))
    assert list(expected) == ["similarity", "auxiliary", "fused"]
    loaded = MetricSpace.load(run / "space")
    loaded.temperatures = {"fused": Temperature(9.0, "made up", 40)}
    loaded.save(run / "space")
    few = samekind("calibrate", run, folders)
    assert "careful (class probabilities): 24 of the items are of classes this space knows" in few.err
    assert MetricSpace.load(run / "space").temperatures == loaded.temperatures
    for given in (("--kind", "cosine"), (folders, "--open-set")):
        assert json.loads(samekind("calibrate", run, *given, "--json").out)["temperatures"] == {}
        assert MetricSpace.load(run / "space").temperatures == loaded.temperatures
    answer = samekind("calibrate", run)
    assert MetricSpace.load(run / "space").temperatures == expected
    for head, temperature in expected.items():
        assert [head, f"{temperature.value:.4g}", f"{len(items)}"] in [
            line.split() for line in answer.out.splitlines()
        ]
    content = json.loads(samekind("calibrate", run, "--json").out)["temperatures"]
    assert content == {head: asdict(temperature) for head, temperature in expected.items()}


def test_prints_a_table_and_a_warning(samekind, run, folders):
    answer = samekind("calibrate", run / "space", folders, "--at", "far=0.0001", "--kind", "similarity")
    decision = MetricSpace.load(run / "space").decisions["similarity"]
    assert answer.status == 0
    assert "Fitted on folders: 198 same, 432 different\n" in answer.out
    low, high = decision.false_reject_interval
    assert f"{decision.false_rejects:.2%} ({100 * low:.2f} to {100 * high:.2f})" in answer.out
    assert answer.err == f"careful (similarity): {support(decision)}\n"
    assert "rule of three" in answer.err
    assert "3 classes" in answer.err


def test_fits_the_threshold_for_none_of_these(samekind, run, space, folders):
    answer = samekind("calibrate", run, folders, "--open-set", "--at", "far=0.25")
    assert answer.status == 0, answer.err
    stored = MetricSpace.load(run / "space")
    expected = fit_open_set(space, *divided(space, read(folders)), point="far=0.25")
    assert stored.open_set == expected
    words = f"folders: 24 known, 12 unknown; by {expected.kind}, chosen there by equal error: similarity "
    assert expected.trials.startswith(words)
    assert f"Fitted on {expected.trials}\n" in answer.out
    assert stored.decisions == space.decisions
    assert answer.out.splitlines()[-1].startswith("open set ")


def test_fits_none_of_these_by_the_named_score(samekind, run, space, folders):
    kind = "cosine"
    answer = samekind("calibrate", run, folders, "--open-set", "--kind", kind, "--json")
    stored = MetricSpace.load(run / "space").open_set
    assert stored == fit_open_set(space, *divided(space, read(folders)), kind=kind)
    content = json.loads(answer.out)["decisions"]["open set"]
    assert (content["kind"], content["equal_error"]) == (kind, stored.equal_error)


def test_warns_of_scores_no_better_than_chance(samekind, run, space, tmp_path):
    """The strangers are the known items under other names, so that nothing can tell them."""
    zeros, ones = (digits().inputs[digits().labels == digit][:4] for digit in (0, 1))
    for name, some in {"0": zeros, "1": ones, "x": zeros, "y": ones}.items():
        for place, picture in enumerate(some):
            write_image(tmp_path / "data" / name / f"{place}.png", scaled(picture))
    answer = samekind("calibrate", run, tmp_path / "data", "--open-set")
    assert answer.status == 0
    assert answer.err.startswith("careful (open set): these scores hardly tell known from unknown: ")


def test_draws_from_many_items(samekind, run):
    assert samekind("calibrate", run, "digits", "--kind", "cosine", "--most-items", "60").status == 0
    decision = MetricSpace.load(run / "space").decisions["cosine"]
    assert decision.trials.startswith("60 items drawn from digits: ")
    assert decision.same_trials + decision.different_trials == 60 * 59 // 2


def test_warns_of_items_that_were_trained_on(samekind, run, folders):
    words = "careful: digits holds this space's training items"
    assert words in samekind("calibrate", run, "digits", "--kind", "cosine", "--most-items", "60").err
    for held_out in ((), (folders,), (run,)):
        answer = samekind("calibrate", run, *held_out, "--kind", "cosine")
        assert answer.status == 0
        assert "was trained on" not in answer.err


def test_fits_on_the_trials_of_a_list(samekind, run, space, folders, tmp_path):
    names = [f"{digit}/{place:02d}.png" for digit in (0, 1, 7) for place in range(4)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    path = tmp_path / "pairs.txt"
    path.write_text("\n".join(f"{int(a[0] == b[0])} {a} {b}" for a, b in pairs))
    answer = samekind("calibrate", run, "--trials", path, "--root", folders, "--at", "far=0.1")
    assert answer.status == 0, answer.err
    assert "Fitted on pairs.txt: 18 same, 48 different\n" in answer.out
    stored = MetricSpace.load(run / "space")
    listed = read_trial_list(path, root=folders)
    z = embed_files(space, listed.files)
    assert list(stored.decisions) == list(space.kinds)
    for kind, decision in stored.decisions.items():
        trials = scored(space, listed, z, kind=kind)
        assert decision == fit_decision(trials, kind=kind, point="far=0.1", description="pairs.txt")
        assert decision.classes == 3
    assert stored.open_set == space.open_set


def a_picture(path):
    write_image(path, scaled(digits().inputs[0]))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--at", "far"), 'expected an operating point "eer", '),
        (("--kind", "cosin"), 'this space has no score "cosin"; did you mean "cosine"?'),
        (("nowhere.csv",), "nowhere.csv"),
        (("flat",), "expected items whose class is known; flat/a.png has none"),
        (
            ("alone",),
            "alone: expected two classes at least and two items of some class, to make pairs of one "
            "and of two classes; got items: 2, classes: 1",
        ),
        (("alone", "--open-set"), "alone has only classes that this space knows; a threshold for none"),
        (("strange", "--open-set"), "strange has no class that this space knows"),
        (("--trials", "nowhere.txt"), "there is no list nowhere.txt"),
        (
            ("alone", "--trials", "nowhere.txt"),
            "DATA and --trials do not go together (either is what to fit on); leave out one",
        ),
        (
            ("--open-set", "--trials", "nowhere.txt"),
            "--open-set and --trials do not go together (a list does not say which classes are known); leave",
        ),
        (("--root", "alone"), "--root does nothing without --trials; give that as well, or leave it out"),
        (
            ("alone", "--open-set", "--most-items", "5000"),
            "--most and --open-set do not go together (it is for the pairs of the items); leave out",
        ),
        (("--trials", "nowhere.txt", "--seed", "9"), "--seed and --trials do not go together"),
        (("--trials", "nowhere.txt", "--most-items", "9"), "--most and --trials do not go together"),
        (("--label", "kind"), "--label does nothing without DATA; give that as well, or leave it out"),
        (("--skip-unreadable",), "--skip-unreadable does nothing without DATA; give that as well"),
        (("--label", "kind", "--trials", "nowhere.txt"), "--label does nothing without DATA"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(
    samekind, run, tmp_path, monkeypatch, arguments, complaint
):
    monkeypatch.chdir(tmp_path)
    for name in ("flat/a.png", "alone/0/a.png", "alone/0/b.png", "strange/x/a.png"):
        a_picture(tmp_path / name)
    before = {path: path.read_bytes() for path in (run / "space").iterdir()}
    answer = samekind("calibrate", run, *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert complaint in answer.err
    assert answer.err.count("\n") == 1
    assert {path: path.read_bytes() for path in (run / "space").iterdir()} == before


def test_refuses_an_enrolment_during_a_calibration(samekind, run, space, folders, monkeypatch):
    """Before, the calibration saved the space as it had been when it began, without the class."""
    answers, real = [], collect

    def meanwhile(*arguments, **more):
        monkeypatch.setattr("samekind.questions.reading.collect", real)
        answers.append(samekind("enroll", "seven", folders / "7", "--space", run))
        return real(*arguments, **more)

    monkeypatch.setattr("samekind.questions.reading.collect", meanwhile)
    assert samekind("calibrate", run, folders, "--kind", "cosine").status == 0
    assert [answer.status for answer in answers] == [2]
    assert "is being changed by " in answers[0].err
    assert MetricSpace.load(run / "space").decisions["cosine"] != space.decisions["cosine"]


def test_a_space_alone_needs_data(samekind, run):
    answer = samekind("calibrate", run / "space")
    assert answer.status == 2
    assert "is not the folder of a finished run" in answer.err
