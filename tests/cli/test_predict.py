"""samekind predict: a table with the class of every item, and what is printed about it."""

import csv
import json
import shutil

import pytest

from samekind.data import digits
from samekind.decisions import Decision
from samekind.inference import asking, embed_files, identify
from samekind.questions.identify import NO_THRESHOLD, NONE
from samekind.space import MetricSpace


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("head", ["similarity", "fused"])
def test_writes_what_the_space_answers(samekind, trained, folders, tmp_path, head):
    out = tmp_path / "p.csv"
    answer = samekind("predict", folders, "--space", trained, "--out", out, "--head", head)
    assert (answer.status, answer.err) == (0, f"{NO_THRESHOLD}; samekind calibrate --open-set fits one\n")
    space, paths = MetricSpace.load(trained / "space"), sorted(folders.rglob("*.png"))
    with asking(space):
        expected = space.classify(embed_files(space, paths), head=head)
    rows = rows_of(out)
    assert list(rows[0]) == ["id", "label", "class", "probability", "runner_up", "runner_up_probability"]
    for row, path, name, chances in zip(rows, paths, expected.classes, expected.probabilities, strict=True):
        best = sorted(zip(chances.tolist(), space.classes, strict=True), reverse=True)[:2]
        assert (row["id"], row["label"], row["class"]) == (str(path), path.parent.name, name)
        assert (row["class"], row["runner_up"]) == (best[0][1], best[1][1])
        assert float(row["probability"]) == pytest.approx(best[0][0], abs=1e-5)
        assert float(row["runner_up_probability"]) == pytest.approx(best[1][0], abs=1e-5)


@pytest.mark.parametrize("kind", ["similarity", "cosine"])
def test_answers_as_identify_with_a_threshold(samekind, trained, folders, tmp_path, kind):
    """Whichever head names the class, the score of the threshold turns away the same items."""
    space, paths = MetricSpace.load(trained / "space"), sorted(folders.rglob("*.png"))
    z = embed_files(space, paths)
    with asking(space):
        middle = float(space.score_classes(z, kind=kind).amax(1).median()) + 1e-6
    space.open_set = Decision(kind, middle, "eer", "made up", 0.0, 0.0, calibration=(3.0, -1.0))
    space.save(tmp_path / "space")
    out = tmp_path / "p.csv"
    answer = samekind("predict", folders, "--space", tmp_path / "space", "--out", out)
    rows, expected = rows_of(out), identify(space, z)
    assert [row["class"] for row in rows] == [item.name or NONE for item in expected]
    assert [float(row["score"]) for row in rows] == pytest.approx([item.score for item in expected], abs=1e-5)
    none = sum(row["class"] == NONE for row in rows)
    assert 0 < none < len(rows)
    assert answer.err == ""
    assert f"{none} of them are none of these: of no class the space knows, by its threshold.\n" in answer.out
    samekind("predict", folders, "--space", tmp_path / "space", "--out", out, "--head", "auxiliary")
    assert [row["class"] == NONE for row in rows_of(out)] == [item.name is None for item in expected]


def test_counts_one_item_in_the_singular(samekind, trained, pictures, tmp_path):
    space = MetricSpace.load(trained / "space")
    space.open_set = Decision("cosine", 1.1, "eer", "made up", 0.0, 0.0, calibration=(3.0, -1.0))
    space.save(tmp_path / "space")
    page = samekind("predict", pictures / "0.png", "--space", tmp_path / "space", "--out", tmp_path / "p.csv")
    assert "1 of them is none of these: of no class the space knows, by its threshold.\n" in page.out


def test_accuracy_counts_labels_that_the_space_knows(samekind, trained, folders, tmp_path):
    """7 was never shown, so its pictures do not count."""
    out = tmp_path / "p.csv"
    content = json.loads(samekind("predict", folders, "--space", trained, "--out", out, "--json").out)
    judged = [row for row in rows_of(out) if row["label"] != "7"]
    right = sum(row["label"] == row["class"] for row in judged)
    assert (content["items"], content["judged"], content["accuracy"]) == (36, 24, right / 24)
    assert (content["out"], content["none of these"]) == (str(out), None)
    page = samekind("predict", folders, "--space", trained, "--out", out).out
    assert f"Of 24 with a label the space knows, {right / 24:.2%} are named rightly." in page


def test_warns_of_items_that_were_trained_on(samekind, trained, tmp_path):
    out = tmp_path / "p.csv"
    answer = samekind("predict", "digits", "--space", trained, "--out", out, "--json")
    assert answer.status == 0
    assert answer.err.startswith("careful: digits holds this space's training items; ")
    assert [row["label"] for row in rows_of(out)] == [str(label) for label in digits().labels.tolist()]


def test_refuses_an_unknown_head(samekind, trained, folders, tmp_path):
    answer = samekind("predict", folders, "--space", trained, "--out", tmp_path / "p.csv", "--head", "fuse")
    known = "auxiliary, fused, similarity"
    says = f'samekind: this space has no head "fuse"; did you mean "fused"? Known: {known}\n'
    assert answer == (2, "", says)


def test_names_that_a_spreadsheet_would_run_are_guarded(samekind, trained, folders, tmp_path):
    (tmp_path / "=1+1").mkdir()
    shutil.copy(next(folders.rglob("*.png")), tmp_path / "=1+1" / "a.png")
    labels = []
    for options in ([], ["--raw-texts"]):
        out = tmp_path / "p.csv"
        assert samekind("predict", tmp_path, "--space", trained, "--out", out, *options).status == 0
        labels.append(rows_of(out)[0]["label"])
    assert labels == ["'=1+1", "=1+1"]
