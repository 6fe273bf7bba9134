"""samekind embed: the vectors of all items, with what they belong to."""

import csv
import json

import numpy
import pyarrow.parquet
import pytest
import torch

from samekind.inference import embed_files
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def expected(trained, folders):
    paths = sorted(folders.rglob("*.png"))
    return paths, embed_files(MetricSpace.load(trained / "space"), paths).numpy()


def test_an_array_with_its_ids_beside_it(samekind, trained, folders, expected, tmp_path):
    answer = samekind("embed", folders, "--space", trained, "--out", tmp_path / "v.npy", "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    assert content == {
        "out": str(tmp_path / "v.npy"),
        "ids": str(tmp_path / "v.ids.csv"),
        "items": 36,
        "dimension": expected[1].shape[1],
        "skipped": [],
    }
    with (tmp_path / "v.ids.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [str(path) for path in expected[0]]
    assert [row["label"] for row in rows] == [path.parent.name for path in expected[0]]
    numpy.testing.assert_allclose(numpy.load(tmp_path / "v.npy"), expected[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_with_a_column_for_each_number(samekind, trained, folders, expected, tmp_path, ending):
    out = tmp_path / f"v.{ending}"
    answer = samekind("embed", folders / "0", folders / "7", "--space", trained, "--out", out)
    dimension = expected[1].shape[1]
    assert answer.out == f"24 vectors of {dimension} numbers are in {out}.\n"
    if ending == "parquet":
        columns = pyarrow.parquet.read_table(out).to_pydict()
    else:
        with out.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert list(columns) == ["id", "label", *(f"v{place}" for place in range(dimension))]
    places = [place for place, path in enumerate(expected[0]) if path.parent.name != "1"]
    assert columns["id"] == [str(expected[0][place]) for place in places]
    vectors = torch.tensor([[float(number) for number in columns[f"v{n}"]] for n in range(dimension)]).T
    torch.testing.assert_close(vectors, torch.from_numpy(expected[1][places]))


def test_the_same_command_writes_the_same_file(samekind, trained, folders, tmp_path):
    contents = []
    for _ in range(2):
        samekind("embed", folders, "--space", trained, "--out", tmp_path / "v.npy")
        contents.append([path.read_bytes() for path in sorted(tmp_path.iterdir())])
    assert contents[0] == contents[1]


def test_refuses_a_wrong_ending_before_the_work(samekind, tmp_path):
    answer = samekind("embed", "nowhere", "--space", "nowhere", "--out", tmp_path / "v.txt")
    assert answer == (2, "", "samekind: expected a file ending in .npy, .csv, .parquet; got v.txt\n")


def test_refuses_or_skips_unreadable_files(samekind, trained, folders, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "bad.png").write_text("no picture")
    command = ("embed", folders / "0", tmp_path / "data", "--space", trained, "--out", tmp_path / "v.npy")
    stopped = samekind(*command)
    assert (stopped.status, stopped.out) == (2, "")
    assert "bad.png" in stopped.err
    assert not (tmp_path / "v.npy").exists()
    skipped = samekind(*command, "--skip-unreadable", "--json")
    assert skipped.err.startswith("skipped 1: cannot read ")
    content = json.loads(skipped.out)
    assert content["items"] == 12
    assert [path for path, _ in content["skipped"]] == [str(tmp_path / "data" / "bad.png")]


def test_an_interrupt_leaves_nothing(samekind, trained, folders, tmp_path, monkeypatch):
    def stop(space, inputs):
        raise KeyboardInterrupt

    command = ("embed", folders, "--space", trained, "--out", tmp_path / "v.npy")
    with monkeypatch.context() as patch:
        patch.setattr("samekind.questions.reading.embed", stop)
        answer = samekind(*command)
    assert (answer.status, answer.out) == (130, "")
    assert list(tmp_path.iterdir()) == []
    assert samekind(*command).status == 0
    assert numpy.load(tmp_path / "v.npy").shape[0] == 36


def test_a_table_for_embedding_atlas(samekind, trained, folders, expected, tmp_path):
    out = tmp_path / "points of items.parquet"
    answer = samekind("embed", folders, "--space", trained, "--out", out, "--for-atlas")
    assert answer.out == (
        f"36 points are in {out}. To open them: embedding-atlas '{out}' --x x --y y --neighbors neighbours\n"
    )
    columns = pyarrow.parquet.read_table(out).to_pydict()
    assert list(columns) == ["id", "label", "x", "y", "neighbours"]
    assert columns["id"] == [str(path) for path in expected[0]]
    assert columns["label"] == [path.parent.name for path in expected[0]]
    assert all(isinstance(value, float) for name in "xy" for value in columns[name])
    z = torch.nn.functional.normalize(torch.from_numpy(expected[1]))
    nearest = (z @ z.T).fill_diagonal_(-1).argmax(1).tolist()
    assert [row["ids"][0] for row in columns["neighbours"]] == nearest
    content = json.loads(
        samekind("embed", folders, "--space", trained, "--out", out, "--for-atlas", "--json").out
    )
    assert (content["items"], content["columns"]) == (36, list(columns))


def test_a_table_for_embedding_atlas_is_parquet(samekind, tmp_path):
    answer = samekind("embed", "nowhere", "--space", "nowhere", "--out", tmp_path / "v.csv", "--for-atlas")
    assert answer == (2, "", "samekind: expected a file ending in .parquet; got v.csv\n")
