"""The columns a run was trained on are those of later commands, until others are named or they are not there.

Of the commands, because that is where they would be forgotten: each must hand on what the run says.
"""

import csv
import json
import shutil

import pytest

from samekind.data import digits, scaled, write_image
from samekind.index import open_index


@pytest.fixture(scope="module")
def run(trained, tmp_path_factory):
    """A copy of the run, as if it had been trained on a list whose columns are called kind and file."""
    folder = tmp_path_factory.mktemp("columns") / "run"
    shutil.copytree(trained, folder, ignore=shutil.ignore_patterns("*.pt"))
    known = json.loads((folder / "data.json").read_text())
    known["data"] |= {"label": "kind", "path": "file"}
    (folder / "data.json").write_text(json.dumps(known))
    return folder


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """Lists of the same six pictures by the names of their columns, and what their labels are."""
    folder = tmp_path_factory.mktemp("lists")
    labels = ["0", "1", "0", "1", "0", "1"]
    for place, digit in enumerate(map(int, labels)):
        write_image(folder / f"{place}.png", scaled(digits().inputs[digits().labels == digit][place]))

    def write(*columns):
        path = folder / f"{'-'.join(columns)}.csv"
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            # Where there are two columns of labels, the second is none of them.
            rows.writerows([f"{place}.png", label, "x"][: len(columns)] for place, label in enumerate(labels))
        return path

    return write, labels


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("columns", "label", "expected"),
    [
        (("file", "kind", "label"), None, True),  # as in training
        (("path", "label", "sort"), None, True),  # not there: the usual ones
        (("file", "sort", "kind"), "sort", True),  # who names one means it
        (("file", "kind"), "sort", False),
        (("file", "label"), "sort", False),
        (("file", "sort"), None, False),
    ],
)
def test_the_labels_of_a_list(samekind, run, lists, tmp_path, columns, label, expected):
    write, labels = lists
    out = tmp_path / "out.csv"
    more = () if label is None else ("--label", label)
    assert samekind("predict", write(*columns), "--space", run, "--out", out, *more).status == 0
    assert [row.get("label") for row in rows_of(out)] == (labels if expected else [None] * 6)


def the_labels_told(samekind, run, data, tmp_path, command):
    """What a command tells of the labels of a list."""
    space, out = ("--space", run), tmp_path / "out"
    match command:
        case "embed":
            assert samekind("embed", data, *space, "--out", f"{out}.csv").status == 0
            return [row["label"] for row in rows_of(out.with_suffix(".csv"))]
        case "index":
            assert samekind("index", "build", run, data, "--out", out).status == 0
            built = open_index(out)
            assert samekind("index", "add", out, data, *space, "--replace").status == 0
            added = open_index(out)
            assert [index.metadata(list(index)) for index in (built, added)] == [
                added.metadata(list(added))
            ] * 2
            return [metadata["label"] for metadata in added.metadata(list(added))]
        case "search":
            content = samekind("search", data, *space, "--gallery", data, "--json").out
            queries = json.loads(content)["queries"]
            assert {row["label"] for query in queries for row in query["found"]} == {"0", "1"}
            return [query["label"] for query in queries]
        case "novelty":
            content = samekind("novelty", data, *space, "--json").out
            items = {item["id"]: item["label"] for item in json.loads(content)["items"]}
            return [items[name] for name in sorted(items)]
    raise AssertionError(command)


@pytest.mark.parametrize("command", ["embed", "index", "search", "novelty"])
def test_every_command_with_labels_knows_the_column(samekind, run, lists, tmp_path, command):
    write, labels = lists
    assert the_labels_told(samekind, run, write("file", "kind"), tmp_path, command) == labels


@pytest.mark.parametrize(
    "command",
    [
        "cluster DATA --space RUN --groups 2 --out OUT --json",
        "evaluate RUN --data DATA --tasks 2 --json",
        "evaluate RUN --data DATA --tasks 2 --cohort DATA --json",
        "calibrate RUN DATA --json",
        "identify DATA --space RUN --json",
        "enroll both DATA --space RUN --json",
        "two-sample DATA DATA --space RUN --permutations 9 --json",
    ],
)
def test_every_other_command_reads_such_a_list(samekind, run, lists, tmp_path, command):
    write, _ = lists
    mine = shutil.copytree(run, tmp_path / "run")
    names = {"DATA": write("file", "kind"), "RUN": mine, "OUT": tmp_path / "out"}
    answer = samekind(*(names.get(word, word) for word in command.split()))
    assert answer.status == 0, answer.err
    if command.startswith("cluster"):
        assert json.loads(answer.out)["agreement"]


@pytest.fixture(scope="module")
def flowers(samekind, tmp_path_factory):
    """A run on a table whose rows have names that were left out, and those names."""
    folder = tmp_path_factory.mktemp("flowers")
    names = [f"plant {place * 7 % 40:02}" for place in range(40)]
    rows = [
        f"{name},{place % 2 + place / 100},{place % 5},{'ab'[place % 2]}" for place, name in enumerate(names)
    ]
    (folder / "t.csv").write_text("\n".join(["name,x,y,label", *rows, ""]))
    command = ("train", "triplet", "--data", folder / "t.csv", "--ignore", "name", "--set", "epochs=1")
    answer = samekind(*command, "--out", folder / "run")
    assert answer.status == 0, answer.err
    return folder, names


@pytest.mark.parametrize(
    "command", ["predict --out", "embed --out", "cluster --groups 2 --out", "novelty --csv"]
)
def test_names_rows_by_a_column(samekind, flowers, tmp_path, command):
    folder, names = flowers
    data, out = folder / "t.csv", tmp_path / "out.csv"
    words = (*command.split(), out, data, "--space", folder / "run")
    assert samekind(*words).status == 0
    assert {row["id"] for row in rows_of(out)} == {f"{data}, row {row}" for row in range(1, 41)}
    assert samekind(*words, "--id", "name").status == 0
    assert sorted(row["id"] for row in rows_of(out)) == sorted(names)
    if command.startswith(("predict", "embed")):
        assert [row["id"] for row in rows_of(out)] == names
