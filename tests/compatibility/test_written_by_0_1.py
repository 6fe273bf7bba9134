"""Folders that samekind 0.1 wrote still open: a run, a stopped training, a space and two indexes.

The folder ``written_by_0_1`` was written by that version, with the answers that it gave. It is never written
anew: a change that breaks one of these tests breaks the folders of users.
"""

import json
import math
import shutil
import sys
from pathlib import Path

import pytest
import torch

from samekind.cli import main
from samekind.index import open_index, space_fingerprint
from samekind.space import MetricSpace

WRITTEN = Path(__file__).parent / "written_by_0_1"
SETTINGS = [
    "--data=data.csv",
    "--unseen=y,z",
    "--set=space.encoder.dimension=4",
    "--set=space.encoder.hidden=[8]",
    "--set=space.similarity.hidden=8",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A copy of the folders, as the current folder. The run finds its data there, and not where they were."""
    copy = tmp_path / "copy"
    shutil.copytree(WRITTEN, copy)
    about = copy / "finished" / "data.json"
    content = json.loads(about.read_text())
    about.write_text(json.dumps({**content, "source": str(copy / "data.csv")}))
    monkeypatch.chdir(copy)
    return copy


@pytest.fixture
def answer_of(monkeypatch, capsys):
    """What a command prints with --json."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["samekind", *arguments, "--json"])
        monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer sets its own
        main()
        return json.loads(capsys.readouterr().out)

    return call


def assert_close(now, then, where="answer"):
    """Equal in structure and text, and to 1e-5 in numbers. New keys are allowed."""
    if isinstance(then, dict):
        for key in then:
            assert_close(now[key], then[key], f"{where}.{key}")
    elif isinstance(then, list):
        assert len(now) == len(then), where
        for place, (left, right) in enumerate(zip(now, then, strict=True)):
            assert_close(left, right, f"{where}[{place}]")
    elif isinstance(then, float) and isinstance(now, float):
        assert math.isclose(now, then, rel_tol=1e-4, abs_tol=1e-5) or (now != now and then != then), where
    else:
        assert now == then, where


def test_a_space_gives_the_same_classes(here, answer_of):
    now = answer_of("identify", "data.csv", "--space", "finished")
    assert_close(now, json.loads((here / "identify.json").read_text()))


def test_a_finished_run_is_evaluated_to_the_same_figures(here, answer_of):
    now = answer_of("evaluate", "finished", "--tasks", "5")
    then = json.loads((here / "evaluate.json").read_text())
    for row in then["systems"]["finished"]:
        if row["measure"].startswith("minDCF"):  # its intervals were too narrow
            for key in ("low", "high", "unit"):
                del row[key]
    # What does not beat its start is told by "gains" now, with figures, and not by sentences.
    del then["warnings"]
    assert {gain["verdict"] for gain in now["gains"]["finished"]} == {"not better"}
    assert_close(now, then)


def test_a_stopped_training_goes_on_to_the_same_losses(here, answer_of):
    more = ["--set=epochs=3", "--set=adversary.kind=adaptive", "--set=adversary.hidden=8"]
    answer_of("train", "prototypical", "--out=stopped", *SETTINGS, *more)
    now = [json.loads(line) for line in (here / "stopped" / "record.jsonl").read_text().splitlines()]
    then = [json.loads(line) for line in (here / "whole_record.jsonl").read_text().splitlines()]
    for entry in (*now, *then):
        del entry["items_per_second"]
    assert_close(now, then)


@pytest.mark.parametrize("name", ["exact", "hnsw"])
def test_an_index_finds_the_same_before_and_after_it_is_saved(here, name):
    then = json.loads((here / f"{name}.json").read_text())
    space = MetricSpace.load(here / "finished" / "space")
    for _ in range(2):
        index = open_index(here / name, fingerprint=space_fingerprint(space))
        assert len(index) == 33
        assert "item 3" not in index
        assert index.metadata(["item 30", "item 4"]) == [{"label": "u"}, {"label": "y"}]
        matches = index.search(torch.tensor(then["queries"]), 3)
        assert [list(row) for row in matches.ids] == then["ids"]
        torch.testing.assert_close(matches.scores, torch.tensor(then["scores"]))
        index.save(here / name)
        index.close()
