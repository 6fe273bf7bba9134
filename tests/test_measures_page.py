"""docs/measures.md tells of every measure, and of none that is not there."""

import importlib.util
import re
from pathlib import Path

from samekind import measures
from samekind.evaluation.trial_measures import TRIAL_MEASURES

PAGE = (Path(__file__).parents[1] / "docs" / "measures.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
IN_TICKS = re.findall(r"`([\w.]+)`", PROSE)


def exists(name):
    """Whether the page's name is a measure, or by its full path a module or a member of one."""
    if "." not in name:
        return hasattr(measures, name)
    module, _, member = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), member)
    except ModuleNotFoundError:
        return importlib.util.find_spec(name) is not None


def test_every_measure_is_on_the_page():
    assert sorted(set(measures.__all__) - set(IN_TICKS)) == []


def test_every_name_on_the_page_exists():
    assert [name for name in sorted(set(IN_TICKS)) if not exists(name)] == []


def test_every_line_of_a_table_names_its_function():
    lines = [line for line in PROSE.splitlines() if line.startswith("| ") and "Python |" not in line]
    assert len(lines) > 30
    assert all(re.search(r"`\w+`[^|]*\|$", line) for line in lines)


def test_what_an_evaluation_calls_a_measure_is_explained():
    names = [measure.partition(" at ")[0] for measure in TRIAL_MEASURES.values()]
    missing = [name for name in names if not re.search(rf"^\| [^|]*\b{name}\b", PROSE, flags=re.MULTILINE)]
    assert missing == []
