"""docs/measures.md tells of every measure, and of none that is not there."""

import importlib
import re
from pathlib import Path

import pytest

from samekind import measures
from samekind.evaluation.trial_measures import TRIAL_MEASURES

PAGE = (Path(__file__).parents[1] / "docs" / "measures.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
IN_TICKS = re.findall(r"`([\w.]+)`", PROSE)


@pytest.mark.parametrize("name", measures.__all__)
def test_every_measure_is_on_the_page(name):
    assert name in IN_TICKS


@pytest.mark.parametrize("name", sorted(set(IN_TICKS)))
def test_every_name_on_the_page_exists(name):
    if "." not in name:
        assert hasattr(measures, name)
        return
    module, _, member = name.rpartition(".")
    try:
        assert hasattr(importlib.import_module(module), member)
    except ModuleNotFoundError:
        importlib.import_module(name)


def test_every_line_of_a_table_names_its_function():
    lines = [line for line in PROSE.splitlines() if line.startswith("| ") and "Python |" not in line]
    assert len(lines) > 30
    assert all(re.search(r"`\w+`[^|]*\|$", line) for line in lines)


@pytest.mark.parametrize("name", [each.partition(" at ")[0] for each in TRIAL_MEASURES.values()])
def test_what_an_evaluation_calls_a_measure_is_explained(name):
    assert re.search(rf"^\| [^|]*\b{name}\b", PROSE, flags=re.MULTILINE)
