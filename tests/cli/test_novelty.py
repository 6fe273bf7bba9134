"""samekind novelty: items ranked by how new they are, as a table, JSON and a file."""

import csv
import json

import numpy
import pytest
import torch

from samekind.data import VectorReader
from samekind.encoders import MLP
from samekind.inference import neighbour_novelty, one_class_novelty, prototype_novelty
from samekind.measures import novelty_auroc
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Dot
from samekind.space import MetricSpace

CENTRES = {"x": (3.0, 0.0), "y": (0.0, 3.0), "strange": (-3.0, -1.0)}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The plane as it is, two known classes, and folders of points of those and of a strange one."""
    folder = tmp_path_factory.mktemp("novelty")
    encoder = MLP(inputs=2, dimension=2, hidden=[])
    torch.nn.init.eye_(encoder.embedding.weight)
    torch.nn.init.zeros_(encoder.embedding.bias)
    space = MetricSpace(encoder, Dot(), SupportMeans(dimension=2), reader=VectorReader(dimension=2))
    for name in ("x", "y"):
        space.enroll(name, torch.tensor([CENTRES[name]]))
    space.save(folder / "space")
    generator = numpy.random.default_rng(0)
    for part, names, count in (("asked", CENTRES, 4), ("known", ("x", "y"), 10), ("only x", ("x",), 10)):
        for name in names:
            (folder / part / name).mkdir(parents=True)
            for index in range(count):
                point = generator.normal(CENTRES[name], 0.5).astype(numpy.float32)
                numpy.save(folder / part / name / f"{index:02}.npy", point)
    return folder


@pytest.fixture
def ask(samekind, place, monkeypatch):
    monkeypatch.chdir(place)
    return lambda *more: samekind("novelty", *more, "--space", "space")


def points(place, part):
    paths = sorted((place / part).rglob("*.npy"))
    return [str(path.relative_to(place)) for path in paths], torch.tensor(
        numpy.array([numpy.load(path) for path in paths])
    )


@pytest.mark.parametrize(
    ("method", "kind"), [(None, "cosine"), ("neighbours", "cosine"), ("svm", "similarity")]
)
def test_json_has_the_newest_item_first(ask, place, method, kind):
    options = [] if method in (None, "prototypes") else ["--known", "known", "--method", method]
    answer = ask("asked", *options, "--kind", kind, "--json")
    assert (answer.status, answer.err) == (0, "")
    content, space = json.loads(answer.out), MetricSpace.load(place / "space")
    paths, asked = points(place, "asked")
    known = points(place, "known")[1]
    if method == "svm":
        newness = one_class_novelty(space, asked, known, kind=kind)
    elif method == "neighbours":
        newness = neighbour_novelty(space, asked, known, kind=kind)
    else:
        newness = prototype_novelty(space, asked, kind=kind)
    expected = dict(zip(paths, newness.tolist(), strict=True))
    assert {row["id"]: row["novelty"] for row in content["items"]} == pytest.approx(expected, abs=1e-5)
    values = [row["novelty"] for row in content["items"]]
    assert values == sorted(values, reverse=True)
    assert (content["method"], content["kind"]) == (method or "prototypes", kind)
    assert content["known"] == (20 if options else None)
    for row in content["items"]:
        assert row["id"].split("/")[1] == row["label"]
        assert row["class"] in ("x", "y")
        assert ("new" in row) == (method == "svm")
    auroc = novelty_auroc(newness, torch.tensor(["strange" in path for path in paths]))
    assert content["auroc"] == pytest.approx(
        {"value": auroc.mean, "low": auroc.low, "high": auroc.high, "new": 4, "known": 8}
    )


def test_in_words(ask):
    page = ask("asked", "--known", "known", "--show", "2").out
    lines = page.strip().splitlines()
    assert lines[0].rstrip() == "The newest of 12 items (svm, similarity)"
    assert lines[1].split() == ["id", "label", "most", "like", "novelty", "new"]
    assert len([line for line in lines if line.startswith("asked/")]) == 2
    assert " of 12 items are called new." in page
    assert "4 items of classes that are not known against 8 of known ones." in page
    assert "AUROC " in page
    assert "asked/" not in ask("asked", "--show", "0").out


def test_warns_of_an_order_that_is_upside_down(samekind, place, tmp_path):
    """Where the strange items are most like a class, and the known ones are not."""
    space = MetricSpace.load(place / "space")
    for name in ("x", "y"):
        space.enroll(name, torch.tensor([CENTRES["strange"]]), replace=True)
    space.save(tmp_path / "turned")
    answer = samekind("novelty", place / "asked", "--space", tmp_path / "turned")
    assert "\nAUROC 0.000 (95 %: 0.000 to " in answer.out
    assert answer.err == (
        "careful: unknown items look more familiar than known ones by similarity (the AUROC is below 50% by "
        'more than chance): "none of these" and what is new must not be decided by it; another --kind or '
        "--method may do better\n"
    )
    content = samekind("novelty", place / "asked", "--space", tmp_path / "turned", "--json")
    assert answer.err.startswith(f"careful: {json.loads(content.out)['warning']}; ")
    assert content.err == ""
    for asked in ("asked", "known"):  # in order, and with nothing to judge by
        content = samekind("novelty", place / asked, "--space", place / "space", "--json")
        assert json.loads(content.out)["warning"] is None


def test_warns_of_items_that_were_trained_on(samekind, trained, folders):
    answer = samekind("novelty", "digits", "--space", trained, "--json")
    assert json.loads(answer.out)["auroc"] is not None
    assert answer.err.startswith("careful: digits holds this space's training items; ")
    assert samekind("novelty", folders, "--space", trained, "--json").err == ""


def test_a_table_of_all(ask, tmp_path):
    out = tmp_path / "new.csv"
    page = ask("asked", "--csv", out, "--show", "1").out
    assert f"All 12 items are in {out}" in page
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    content = json.loads(ask("asked", "--json").out)["items"]
    assert [row["id"] for row in rows] == [row["id"] for row in content]
    assert [float(row["novelty"]) for row in rows] == pytest.approx([row["novelty"] for row in content])


def test_a_space_without_classes_needs_known_items(samekind, place, tmp_path):
    space = MetricSpace.load(place / "space")
    bare = MetricSpace(space.encoder, Cosine(), SupportMeans(dimension=2), reader=space.reader)
    bare.save(tmp_path / "bare")
    content = json.loads(
        samekind(
            "novelty", place / "asked", "--known", place / "known", "--space", tmp_path / "bare", "--json"
        ).out
    )
    assert "class" not in content["items"][0]
    refused = samekind("novelty", place / "asked", "--space", tmp_path / "bare")
    assert refused.err.startswith("samekind: this space knows no class yet; ")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--method", "svn"], 'there is no method "svn"; did you mean "svm"?'),
        (["--method", "svm"], "the method svm needs items that are known; name some (--known)"),
        (["--method", "prototypes", "--known", "known"], "the method prototypes looks at classes alone; "),
        (["--known", "known", "--outliers", "0"], "the share of outliers is above 0 and at most 1; got 0.0"),
        (["--kind", "fused"], 'this space has no score "fused"; '),
        (["--csv", "new.txt"], "expected a file ending in .csv, .parquet; got new.txt"),
    ],
)
def test_a_mistake_gets_one_line(ask, place, more, says):
    answer = ask("asked", *more)
    [line] = answer.err.splitlines()
    assert line.startswith(f"samekind: {says}")
    assert (answer.status, answer.out) == (2, "")
    assert not (place / "new.txt").exists()
