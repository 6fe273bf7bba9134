"""An index: built, changed and described."""

import pytest

from samekind.errors import SettingError
from samekind.index import Exact, open_index
from samekind.questions import add_to_index, build_index, index_info, remove_from_index
from samekind.questions.galleries import new_index


def test_builds_adds_removes_and_describes(plane, at, tmp_path, progress):
    empty, items = new_index(plane, count=3), at([0, 10, 20], ["a", "a", "b"])
    answer = build_index(plane, empty, items, tmp_path / "index", progress=progress)
    assert (answer.backend, answer.items, answer.dimension, answer.structure) == ("Exact", 3, 2, None)
    assert progress.titles["index"] == [3, 3]
    [shortlist] = answer.shortlists
    assert shortlist.content["why"] == "small"
    assert (shortlist.warning, shortlist.advice) == (None, None)
    index = open_index(tmp_path / "index")
    with pytest.raises(SettingError, match="already there"):
        add_to_index(plane, index, at([20, 30]), tmp_path / "index")
    added = add_to_index(plane, index, at([30, 40]), tmp_path / "index")
    assert (added.added, added.items) == (2, 5)
    removed = remove_from_index(open_index(tmp_path / "index"), ["0 degrees", "0 degrees"])
    assert (removed.removed, removed.items) == (1, 4)
    content = index_info(open_index(tmp_path / "index")).to_json()
    assert list(content)[:5] == ["backend", "structure", "server", "name", "items"]
    assert next(iter(removed.to_json())) == "removed"
    assert answer.to_json()["skipped"] == (("bad.npy", "cannot be read"),)


def test_the_name_of_a_kind_is_not_that_of_its_class():
    class Renamed(Exact):
        pass

    assert index_info(Renamed(2)).backend == "Exact"
