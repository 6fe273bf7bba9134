"""samekind cluster: groups of what is alike, in a table, a folder and a page."""

import csv
import json

import pytest
import torch
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from samekind.inference import cluster, embed_files
from samekind.inference.cluster import choose_groups
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def z(trained, folders):
    paths = sorted(folders.rglob("*.png"))
    return embed_files(MetricSpace.load(trained / "space"), paths)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def partition(groups):
    """Which items are together, whatever the groups are called."""
    groups = list(groups)
    return {frozenset(place for place, name in enumerate(groups) if name == group) for group in set(groups)}


def test_a_table_of_a_number_of_groups(samekind, trained, folders, z, tmp_path):
    out = tmp_path / "groups.csv"
    answer = samekind("cluster", folders, "--space", trained, "--groups", "3", "--out", out, "--json")
    assert (answer.status, answer.err) == (0, "")
    content, rows = json.loads(answer.out), rows_of(out)
    assert partition(row["group"] for row in rows) == partition(
        cluster(z, groups=3, seed=0).assigned.tolist()
    )
    assert [row["id"] for row in rows] == [str(path) for path in sorted(folders.rglob("*.png"))]
    sizes = [sum(row["group"] == str(group) for row in rows) for group in (1, 2, 3)]
    assert content["sizes"] == sizes == sorted(sizes, reverse=True)
    truth = torch.tensor([("0", "1", "7").index(row["label"]) for row in rows])
    assigned = torch.tensor([int(row["group"]) for row in rows])
    pairs = list(zip(assigned.tolist(), truth.tolist(), strict=True))
    most = sum(max(pairs.count((group, name)) for name in range(3)) for group in (1, 2, 3))
    assert content["agreement"] == pytest.approx(
        {
            "NMI": normalized_mutual_info_score(truth, assigned),
            "AMI": adjusted_mutual_info_score(truth, assigned),
            "purity": most / 36,
        }
    )
    assert (content["items"], content["groups"], content["silhouettes"], content["report"]) == (
        36,
        3,
        {},
        None,
    )


def test_warns_of_items_that_were_trained_on(samekind, trained, tmp_path):
    answer = samekind("cluster", "digits", "--space", trained, "--groups", "2", "--out", tmp_path / "g.csv")
    assert "Agreement with the labels: " in answer.out
    assert answer.err.startswith("careful: digits holds this space's training items; ")


def test_the_number_is_chosen_by_the_silhouette(samekind, trained, folders, z, tmp_path):
    out, page = tmp_path / "groups.csv", tmp_path / "page.html"
    command = ("cluster", folders, "--space", trained, "--most", "5", "--out", out, "--report", page)
    content = json.loads(samekind(*command, "--json").out)
    choice = choose_groups(z, candidates=range(2, 6), seed=0)
    assert content["groups"] == choice.groups
    assert content["silhouettes"] == pytest.approx({str(n): value for n, value in choice.silhouettes.items()})
    assert content["report"] == str(page)
    assert "<h2>How many groups</h2>" in page.read_text(encoding="utf-8")


def test_a_folder_of_pictures_by_group_with_a_page(samekind, trained, folders, tmp_path):
    out = tmp_path / "groups"
    answer = samekind("cluster", folders, "--space", trained, "--groups", "2", "--out", out)
    assert answer.status == 0
    assert f"The groups are in {out}, the page about them in {out / 'report.html'}." in answer.out
    assert "Agreement with the labels: NMI " in answer.out
    copied = [path.parent.name for path in out.glob("group-*/*.png")]
    assert len(copied) == 36
    assert {name: copied.count(name) for name in set(copied)} == {
        f"group-{group}": sum(row["group"] == str(group) for row in rows_of(out / "groups.csv"))
        for group in (1, 2)
    }
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/png;base64,') == 20  # ten for each group


def test_the_same_command_writes_the_same_files(samekind, trained, folders, tmp_path):
    contents = []
    for _ in range(2):
        samekind("cluster", folders, "--space", trained, "--groups", "3", "--out", tmp_path / "groups")
        paths = sorted((tmp_path / "groups").rglob("*.*"))
        contents.append({path: path.read_bytes() for path in paths})
    assert contents[0] == contents[1]


def test_items_without_labels_have_no_agreement(samekind, trained, pictures, tmp_path):
    out = tmp_path / "groups.csv"
    command = ("cluster", *sorted(pictures.iterdir()), "--space", trained, "--groups", "1", "--out", out)
    assert "Agreement" not in samekind(*command).out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--out", "groups.txt"], "expected a file ending in .csv, .parquet; got groups.txt"),
        (["--out", "."], ". holds something other than groups; choose another folder"),
        (["--out", "g.csv", "--groups", "37"], "asked for 37 groups of 36 items; ask for fewer"),
        (["--out", "g.csv", "--groups", "0"], "invalid value for '--groups': "),
    ],
)
def test_mistakes_leave_nothing(samekind, trained, folders, tmp_path, monkeypatch, more, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("do not touch")
    answer = samekind("cluster", folders, "--space", trained, *more)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"samekind: {says}")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
