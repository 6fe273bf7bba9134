"""samekind predict: a class for every item, as the space answers for each alone."""

import csv
import json

import pytest
import torch

from samekind.data import digits
from samekind.decisions import Decision, Temperature
from samekind.inference import asking, embed_files, identify
from samekind.prototypes import SupportMeans
from samekind.questions.identify import NO_THRESHOLD, NONE
from samekind.questions.predict import _predictions
from samekind.similarities import Cosine
from samekind.space import MetricSpace


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("head", ["similarity", "auxiliary", "fused"])
def test_every_line_is_what_the_space_says(samekind, trained, folders, tmp_path, head):
    out = tmp_path / "p.csv"
    answer = samekind("predict", folders, "--space", trained, "--out", out, "--head", head)
    assert (answer.status, answer.err) == (0, f"{NO_THRESHOLD}\n")
    space, paths = MetricSpace.load(trained / "space"), sorted(folders.rglob("*.png"))
    with asking(space):
        told = space.classify(embed_files(space, paths), head=head)
    rows = rows_of(out)
    assert list(rows[0]) == ["id", "label", "class", "probability", "runner_up", "runner_up_probability"]
    for row, path, name, probabilities in zip(rows, paths, told.classes, told.probabilities, strict=True):
        best = sorted(zip(probabilities.tolist(), space.classes, strict=True), reverse=True)[:2]
        assert (row["id"], row["label"], row["class"]) == (str(path), path.parent.name, name)
        assert (row["class"], row["runner_up"]) == (best[0][1], best[1][1])
        assert float(row["probability"]) == pytest.approx(best[0][0], abs=1e-5)
        assert float(row["runner_up_probability"]) == pytest.approx(best[1][0], abs=1e-5)


def test_the_class_is_the_best_even_where_a_temperature_makes_all_alike(samekind, trained, folders, tmp_path):
    """Sorted by these probabilities, every item would be of the first class."""
    space, paths = MetricSpace.load(trained / "space"), sorted(folders.rglob("*.png"))
    space.temperatures["similarity"] = Temperature(1e12, "made up", 40)
    space.save(tmp_path / "space")
    out = tmp_path / "p.csv"
    assert samekind("predict", folders, "--space", tmp_path / "space", "--out", out).status == 0
    with asking(space):
        names = space.classify(embed_files(space, paths), calibrated=False).classes
    rows = rows_of(out)
    assert [row["class"] for row in rows] == names
    assert all(row["runner_up"] != row["class"] for row in rows)
    assert [float(row["probability"]) for row in rows] == pytest.approx([1 / 7] * len(rows))


# --- none of these ----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["similarity", "cosine"])
def strict(request, trained, folders, tmp_path_factory):
    """The space with a threshold in the middle of the best scores of the pictures."""
    space, paths = MetricSpace.load(trained / "space"), sorted(folders.rglob("*.png"))
    with asking(space):
        scores = space.score_classes(embed_files(space, paths), kind=request.param).amax(1)
    middle = float(scores.median()) + 1e-6
    space.open_set = Decision(request.param, middle, "eer", "made up", 0.0, 0.0, calibration=(3.0, -1.0))
    folder = tmp_path_factory.mktemp("strict")
    space.save(folder)
    return folder


def test_with_a_threshold_it_answers_as_identify_does(samekind, strict, folders, tmp_path):
    out, paths, space = tmp_path / "p.csv", sorted(folders.rglob("*.png")), MetricSpace.load(strict)
    answer = samekind("predict", folders, "--space", strict, "--out", out)
    rows, expected = rows_of(out), identify(space, embed_files(space, paths))
    assert [row["class"] for row in rows] == [each.name or NONE for each in expected]
    assert [float(row["probability"]) for row in rows] == pytest.approx(
        [each.probability for each in expected], abs=1e-5
    )
    assert [float(row["score"]) for row in rows] == pytest.approx([each.score for each in expected], abs=1e-5)
    none = sum(row["class"] == NONE for row in rows)
    assert 0 < none < len(rows)
    assert answer.err == ""
    assert f"{none} of them are none of these: of no class the space knows, by its threshold.\n" in answer.out


def test_the_runner_up_of_none_of_these_is_the_best_class(samekind, strict, folders, tmp_path):
    """And that of a class the second class; both as probable as they are among the known, if it is known."""
    out, paths, space = tmp_path / "p.csv", sorted(folders.rglob("*.png")), MetricSpace.load(strict)
    samekind("predict", folders, "--space", strict, "--out", out)
    z = embed_files(space, paths)
    with asking(space):
        probabilities = space.classify(z).probabilities
        scores = space.score_classes(z, kind=space.open_set.kind).amax(1)
    known = space.open_set.probability(scores.double()).tolist()
    for row, chances, sure in zip(rows_of(out), probabilities.tolist(), known, strict=True):
        best, second = sorted(zip(chances, space.classes, strict=True), reverse=True)[:2]
        chance, name = best if row["class"] == NONE else second
        assert row["runner_up"] == name
        assert float(row["runner_up_probability"]) == pytest.approx(sure * chance, abs=1e-5)


def test_the_only_class_is_the_runner_up_of_none_of_these(samekind, trained, pictures, tmp_path):
    whole = MetricSpace.load(trained / "space")
    one = MetricSpace(whole.encoder, Cosine(), SupportMeans(classes=[], dimension=64), reader=whole.reader)
    one.enroll("only", torch.ones(1, 64))
    one.open_set = Decision("similarity", 1.1, "eer", "made up", 0.0, 0.0, calibration=(1.0, 0.0))
    one.save(tmp_path / "space")
    out = tmp_path / "p.csv"
    assert samekind("predict", pictures / "0.png", "--space", tmp_path / "space", "--out", out).status == 0
    [row] = rows_of(out)
    assert (row["class"], row["runner_up"]) == (NONE, "only")
    assert float(row["probability"]) + float(row["runner_up_probability"]) == pytest.approx(1)


def test_every_head_turns_away_the_same_items(samekind, strict, folders, tmp_path):
    """Whether it is any class is asked of the threshold's score, whichever head names the class."""
    named = {}
    for head in ("similarity", "auxiliary"):
        out = tmp_path / f"{head}.csv"
        samekind("predict", folders, "--space", strict, "--out", out, "--head", head)
        named[head] = [row["class"] == NONE for row in rows_of(out)]
    assert named["auxiliary"] == named["similarity"]


def test_what_is_turned_away_is_counted_and_not_named_rightly(samekind, strict, folders, tmp_path):
    out = tmp_path / "p.csv"
    told = json.loads(samekind("predict", folders, "--space", strict, "--out", out, "--json").out)
    rows = rows_of(out)
    assert told["none of these"] == sum(row["class"] == NONE for row in rows)
    judged = [row["class"] == row["label"] for row in rows if row["label"] != "7"]
    assert told["accuracy"] == sum(judged) / len(judged)


@pytest.mark.parametrize(
    ("head", "kind", "times"),
    [
        ("similarity", None, 1),
        ("similarity", "similarity", 1),
        ("similarity", "cosine", 2),
        ("auxiliary", None, 0),
        ("auxiliary", "similarity", 1),
    ],
)
def test_every_class_is_scored_once(trained, monkeypatch, head, kind, times):
    """With a network of pairs that is what predict spends its time on."""
    space = MetricSpace.load(trained / "space")
    if kind is not None:
        space.open_set = Decision(kind, 0.5, "eer", "made up", 0.0, 0.0, calibration=(3.0, -1.0))
    real, calls = MetricSpace.score_classes, []

    def scored(*arguments, **options):
        calls.append(options)
        return real(*arguments, **options)

    monkeypatch.setattr(MetricSpace, "score_classes", scored)
    _predictions(space, torch.randn(5, 64, generator=torch.Generator().manual_seed(0)), head)
    assert len(calls) == times


def test_one_that_is_turned_away_is_told_in_the_singular(samekind, trained, pictures, tmp_path):
    space = MetricSpace.load(trained / "space")
    space.open_set = Decision("cosine", 1.1, "eer", "made up", 0.0, 0.0, calibration=(3.0, -1.0))
    space.save(tmp_path / "space")
    page = samekind("predict", pictures / "0.png", "--space", tmp_path / "space", "--out", tmp_path / "p.csv")
    assert "1 of them is none of these: of no class the space knows, by its threshold.\n" in page.out


def test_without_a_threshold_nothing_is_said_of_none_of_these(samekind, trained, folders, tmp_path):
    out = tmp_path / "p.csv"
    told = json.loads(samekind("predict", folders, "--space", trained, "--out", out, "--json").out)
    assert told["none of these"] is None
    assert "score" not in rows_of(out)[0]


# --- how well, and what else --------------------------------------------------------------------------


def test_accuracy_is_that_of_the_labels_the_space_knows(samekind, trained, folders, tmp_path):
    """7 was never shown, so its pictures cannot be named rightly and do not count."""
    out = tmp_path / "p.csv"
    told = json.loads(samekind("predict", folders, "--space", trained, "--out", out, "--json").out)
    judged = [row for row in rows_of(out) if row["label"] != "7"]
    right = sum(row["label"] == row["class"] for row in judged)
    assert (told["items"], told["judged"], told["accuracy"]) == (36, 24, right / 24)
    page = samekind("predict", folders, "--space", trained, "--out", out).out
    assert f"Of 24 with a label the space knows, {right / 24:.2%} are named rightly." in page


def test_the_digits_are_known_by_their_name(samekind, trained, tmp_path):
    out = tmp_path / "p.csv"
    answer = samekind("predict", "digits", "--space", trained, "--out", out, "--json")
    assert answer.status == 0
    assert answer.err.startswith("careful: digits holds the items this space was trained on, ")
    rows = rows_of(out)
    assert [row["label"] for row in rows] == [str(label) for label in digits().labels.tolist()]
    known = [row["class"] == row["label"] for row in rows if row["label"] in "0123456"]
    assert json.loads(answer.out)["accuracy"] == pytest.approx(sum(known) / len(known))
    assert sum(known) / len(known) > 0.5


def test_without_labels_there_is_no_column_and_no_accuracy(samekind, trained, pictures, tmp_path):
    out, files = tmp_path / "p.csv", sorted(pictures.glob("*.png"))
    told = json.loads(samekind("predict", *files, "--space", trained, "--out", out, "--json").out)
    assert told["accuracy"] is None
    assert "label" not in rows_of(out)[0]


def test_a_space_of_one_class_has_no_runner_up(samekind, trained, pictures, tmp_path):
    whole = MetricSpace.load(trained / "space")
    one = MetricSpace(whole.encoder, Cosine(), SupportMeans(classes=[], dimension=64), reader=whole.reader)
    one.enroll("only", torch.ones(1, 64))
    one.save(tmp_path / "space")
    out = tmp_path / "p.csv"
    assert samekind("predict", pictures / "0.png", "--space", tmp_path / "space", "--out", out).status == 0
    [row] = rows_of(out)
    assert (row["class"], row["runner_up"], row["runner_up_probability"]) == ("only", "", "")
    assert float(row["probability"]) == 1


def test_an_unknown_head_is_refused(samekind, trained, folders, tmp_path):
    answer = samekind("predict", folders, "--space", trained, "--out", tmp_path / "p.csv", "--head", "fuse")
    known = "auxiliary, fused, similarity"
    says = f'samekind: this space has no head "fuse"; did you mean "fused"? Known: {known}\n'
    assert answer == (2, "", says)
