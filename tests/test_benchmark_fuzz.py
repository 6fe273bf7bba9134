"""The fuzz run, in small: its good inputs open, and a few hundred damaged ones end in a sentence."""

import importlib
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from samekind.errors import SamekindError

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
CASES = 200
#: Good inputs that nothing opens: servers that are not there, a stopped training, arrays without labels, a
#: file of CIFAR that is only names.
REFUSED = {"index": 2, "run": 1, "arrays": 2, "other data": 1}


@pytest.fixture(scope="module")
def fuzz():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        patch.setenv("SAMEKIND_INDEX_URL", "postgresql://127.0.0.1:1/none")
        yield importlib.import_module("fuzz")
        for name in [name for name in sys.modules if name.partition(".")[0] in ("fuzz", "fuzzing")]:
            patch.delitem(sys.modules, name)


@pytest.mark.filterwarnings("ignore")
def test_good_inputs_open(fuzz):
    refused = Counter()
    for name, door in fuzz.DOORS.items():
        for files in door.inputs():
            with fuzz.folder_of(files) as folder:
                try:
                    door.use(folder)
                except SamekindError:
                    refused[name] += 1
    assert refused == REFUSED


@pytest.mark.filterwarnings("ignore")
def test_damaged_inputs_end_in_a_sentence(fuzz):
    outcomes = [fuzz.run_case(number, seed=7) for number in range(CASES)]
    assert [outcome for outcome in outcomes if outcome.what not in ("opened", "refused")] == []
    assert {outcome.door for outcome in outcomes if outcome.what == "refused"} == set(fuzz.DOORS)


def test_a_case_is_the_same_by_its_number_and_seed(fuzz):
    changes = importlib.import_module("fuzzing.changes")
    files = fuzz.DOORS["table"].inputs()[0]
    one, same, other = (changes.changed(files, random.Random(seed), times=3) for seed in (1, 1, 2))
    assert one == same != other


def test_a_worker_that_dies_or_fails_is_counted(fuzz, monkeypatch):
    class Broken:
        def inputs(self):
            return [{"a": b"x"}]

        def use(self, _):
            raise IndexError("nothing there")

    monkeypatch.setitem(fuzz.DOORS, "table", Broken())
    outcome = fuzz.run_case(0, doors=("table",))
    assert (outcome.what, "IndexError" in outcome.detail) == ("traceback", True)
    table = fuzz.report(Counter({("table", "traceback"): 1}), {"0": "table, traceback"})
    assert table.splitlines()[-1] == "case 0: table, traceback"
