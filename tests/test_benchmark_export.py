"""The benchmark of exports: its spaces can be asked, and the page has the figures that were measured."""

import json
import re
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import export as benchmark

ROOT = Path(__file__).resolve().parents[1]
RESULTS = sorted((ROOT / "results" / "export").glob("*.json"))


@pytest.mark.parametrize("name", ["vectors", "characters", "sounds"])
def test_spaces_know_ten_classes(name):
    torch.manual_seed(0)
    space = benchmark.SPACES[name]()
    assert len(space.classes) == benchmark.CLASSES
    assert space.prototypes.vectors.isfinite().all()


def test_every_space_was_measured():
    assert {path.stem for path in RESULTS} == set(benchmark.SPACES)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_the_page_has_the_measured_figures(path):
    told = json.loads(path.read_text())
    page = (ROOT / "docs" / "export.md").read_text()
    [line] = re.findall(rf"^\| {told['space']} \|.*$", page, flags=re.MULTILINE)
    assert line == benchmark.row(told)
