"""samekind predict: a class for every item, as the space answers for each alone."""

import csv
import json

import pytest
import torch

from samekind.data import digits
from samekind.inference import asking, embed_files
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace, Temperature


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("head", ["similarity", "auxiliary", "fused"])
def test_every_line_is_what_the_space_says(samekind, trained, folders, tmp_path, head):
    out = tmp_path / "p.csv"
    answer = samekind("predict", folders, "--space", trained, "--out", out, "--head", head)
    assert (answer.status, answer.err) == (0, "")
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
