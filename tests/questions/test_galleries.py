"""What the commands about indexes share; the commands' own tests show the rest."""

import pytest
import torch

from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, space_fingerprint
from samekind.index.mapped import stored_kind
from samekind.questions import build_index, galleries, search
from samekind.questions.search import gallery_of
from samekind.similarities import TwoCovariance, WithinClass


def test_a_new_index_is_for_the_vectors_of_the_space(plane):
    index = galleries.new_index(plane, count=3)
    assert (index.backend, index.fingerprint, index.dimension) == ("Exact", space_fingerprint(plane), 2)


def test_an_index_for_one_fitted_score_stores_mapped_vectors(plane, at, tmp_path):
    """It finds by that score what a scan finds, and is refused once the score is another one."""
    z = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    plane.fitted = TwoCovariance(dimension=2).fit(z, torch.arange(40) % 5)
    index = galleries.new_index(plane, count=3, scores=["fitted"])
    assert (index.score, index.dimension, stored_kind(index)) == ("dot", 5, "fitted")
    items = at([0, 30, 70, 100, 160, 250])
    answer = build_index(
        plane, index, items, tmp_path / "index", settings=galleries.ShortlistSettings(kinds=("fitted",))
    )
    assert (answer.score, answer.shortlists) == ("fitted", ())
    opened = galleries.open_gallery(tmp_path / "index", plane)
    expected = search(plane, at([20, 110]), gallery_of(plane, items), k=3, kind="fitted")
    for exhaustive in (False, True):
        result = search(plane, at([20, 110]), opened, k=3, exhaustive=exhaustive)
        assert (
            result.how.sentence
            == "Everything was compared: the index itself goes by the score fitted, and is exact"
        )
        for one, other in zip(result.queries, expected.queries, strict=True):
            assert [match.id for match in one.matches] == [match.id for match in other.matches]
            scores = [match.score for match in other.matches]
            assert [match.score for match in one.matches] == pytest.approx(scores, abs=1e-4)
    for scores in (["fitted", "similarity"], ["similarity"]):
        assert stored_kind(galleries.new_index(plane, count=3, scores=scores)) is None
    plane.fitted = WithinClass(dimension=2)
    with pytest.raises(SpaceError, match="made with another space"):
        galleries.open_gallery(tmp_path / "index", plane)


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
