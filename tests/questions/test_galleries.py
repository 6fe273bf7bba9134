"""What the commands about indexes share; the commands' own tests show the rest."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.index import Exact, space_fingerprint
from samekind.questions import galleries


def test_a_new_index_is_for_the_vectors_of_the_space(plane):
    index = galleries.new_index(plane, count=3)
    assert (index.backend, index.fingerprint, index.dimension) == ("Exact", space_fingerprint(plane), 2)


def test_a_path_is_the_same_from_every_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    whole = str(tmp_path / "here" / "a.png")
    monkeypatch.chdir(tmp_path)
    for id in (whole, "here/a.png", "./here/../link/a.png"):
        assert galleries.path_of(id) == whole
        assert galleries.path_of(f"{id}, row 3") == f"{whole}, row 3"


def test_named_data_have_no_path_unless_a_folder_has_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert galleries.path_of("digits, item 3") == "digits, item 3"
    (tmp_path / "digits").mkdir()
    assert galleries.path_of("digits, item 3") == str(tmp_path / "digits, item 3")
    assert galleries.path_of("digits/a.png") == str(tmp_path / "digits" / "a.png")


@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ({"label": "x", "path": "/elsewhere/a.png"}, "/elsewhere/a.png"),
        ({"label": "x"}, "HERE/a.png"),  # of an index made before places were kept
        ({"path": 3}, "HERE/a.png"),  # somebody's own
        ({}, "HERE/a.png"),
    ],
)
def test_takes_the_stored_path_or_else_the_id(tmp_path, monkeypatch, metadata, place):
    monkeypatch.chdir(tmp_path)
    assert galleries.stored_path("a.png", metadata) == place.replace("HERE", str(tmp_path))


class Far(Exact):
    """On a server, where every question is a journey."""

    remote = True
    asked = 0

    def __contains__(self, id):
        self.asked += 1
        return super().__contains__(id)


def test_asks_a_server_about_few_ids():
    index = Far(2)
    galleries.check_new(index, [str(place) for place in range(1000)])
    assert index.asked == galleries.IDS_CHECKED
    index.add(["5"], torch.zeros(1, 2))
    with pytest.raises(SettingError, match='the id "5" is already there'):
        galleries.check_new(index, ["4", "5"])


def test_fills_an_index_in_portions(plane, at, monkeypatch):
    monkeypatch.setattr("samekind.questions.reading.BATCH", 2)
    monkeypatch.setattr(galleries, "ADDED_AT_ONCE", 2)
    items = at([0, 10, 20, 10], ["a", "b", None, "c"])
    index = galleries.new_index(plane, count=4)
    assert galleries.fill(plane, index, items) == len(index) == 3
    assert [metadata["label"] for metadata in index.metadata(list(index))] == ["a", "b", None]
