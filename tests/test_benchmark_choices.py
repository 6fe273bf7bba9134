"""The study of two choices: its table is that of the page, its runs are those of the script."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from samekind.training import Run

ROOT = Path(__file__).parents[1]


@pytest.fixture
def choices(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("choices")
    for name in [name for name in sys.modules if name == "choices" or name.partition(".")[0] == "grids"]:
        monkeypatch.delitem(sys.modules, name)


def test_the_page_has_the_table_of_what_was_run(choices):
    page = (ROOT / "docs/results/similarity.md").read_text(encoding="utf-8")
    written = choices.table(ROOT / "results/choices")
    there = page.partition("<!-- choices: begin -->")[2].partition("<!-- choices: end -->")[0]
    assert there == f"\n\n{written}\n\n"
    assert written.count("one mean of pairs / sum of two means") == 8


def test_what_was_run_is_what_the_script_has(choices):
    sets = choices.sets_of(0)
    alphabets = [
        {name.partition("/")[0] for name in part.classes}
        for part in (sets.train, sets.validation, sets.unseen)
    ]
    assert not alphabets[0] & alphabets[1] | alphabets[1] & alphabets[2] | alphabets[0] & alphabets[2]
    assert [len(part.classes) for part in (sets.train, sets.validation, sets.unseen)] == [60, 12, 30]
    for choice in choices.CHOICES:
        stored = json.loads((ROOT / f"results/choices/{choice.replace(' ', '-')}-0.json").read_text())
        assert Run.from_dict(stored["run"]) == choices.run_of(choice, sets, 0, choices.STEPS)
