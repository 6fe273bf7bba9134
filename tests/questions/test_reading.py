"""Items as a space reads them."""

import numpy
import pytest
import torch

from samekind.data import Collection, DataSettings
from samekind.errors import DataError, SpaceError
from samekind.inference.known_classes import divided
from samekind.questions import reading
from samekind.questions.reading import collected, embedded, known_kind, read_item, with_labels
from samekind.space import MetricSpace


@pytest.fixture
def files(tmp_path):
    """Three points: two of the class right, one of up."""
    for name, point in {"right/0": (1, 0), "right/1": (0.9, 0.1), "up/0": (0, 1)}.items():
        path = tmp_path / f"{name}.npy"
        path.parent.mkdir(exist_ok=True)
        numpy.save(path, numpy.array(point, dtype=numpy.float32))
    return tmp_path


def test_reads_items_with_their_labels(plane, files):
    items = collected(plane, [str(files)])
    assert items.labels == ("right", "right", "up")
    torch.testing.assert_close(items.inputs[2], read_item(plane, files / "up" / "0.npy"))


@pytest.mark.parametrize(("stored", "known"), [("o\u0308", "\u00f6"), ("\u00f6", "o\u0308")])
def test_spells_labels_as_the_space_does(plane, files, stored, known):
    plane.rename("up", known)
    (files / "up").rename(files / stored)
    items = collected(plane, [str(files)])
    assert sorted(items.labels) == sorted(("right", "right", known))
    assert [len(part) for part in divided(plane, with_labels(items, name="any"))] == [3, 0]


def test_refuses_a_space_without_a_reader(plane):
    bare = MetricSpace(plane.encoder, plane.similarity, plane.prototypes)
    with pytest.raises(SpaceError, match="does not say how to read a file"):
        collected(bare, ["anything"])


def test_refuses_an_empty_folder(plane, tmp_path):
    with pytest.raises(DataError):
        collected(plane, [str(tmp_path)], skip_unreadable=True)


def test_labelled_items_keep_groups_and_need_labels(at):
    collection = at([0, 10, 20], ["b", "a", "b"])._replace(groups=("x", "y", "x"))
    items = with_labels(collection, name="points")
    assert (items.classes, items.labels.tolist(), items.name) == (("a", "b"), [1, 0, 1], "points")
    assert items.groups.tolist() == [0, 1, 0]
    with pytest.raises(DataError, match=r"expected items whose class is known; 10 degrees has none"):
        with_labels(at([0, 10], ["a", None]), name="points")


def test_refuses_an_unknown_kind_and_names_the_nearest(plane):
    assert [known_kind(plane, kind) for kind in plane.kinds] == plane.kinds
    with pytest.raises(SpaceError, match='no score "cosin"; Known: similarity'):
        known_kind(plane, "cosin")


def test_embeds_in_batches_and_reports_each(plane, at, progress, monkeypatch):
    monkeypatch.setattr(reading, "BATCH", 4)
    items = at(range(10))
    assert isinstance(items, Collection)
    z = embedded(plane, items.inputs, title="any", progress=progress)
    torch.testing.assert_close(z, items.inputs)
    assert progress.titles == {"any": [10, 10]}


@pytest.mark.parametrize(
    ("columns", "label", "expected"),
    [
        ("kind,label", None, ("a",)),  # as in training
        ("sort,label", None, ("x",)),  # without that column: the usual one
        ("kind,sort", "sort", ("x",)),
        ("kind,label", "sort", (None,)),  # a named column is the only one
    ],
)
def test_tables_are_read_by_the_columns_of_the_training(plane, tmp_path, columns, label, expected):
    numpy.save(tmp_path / "point.npy", numpy.zeros(2, dtype=numpy.float32))
    (tmp_path / "list.csv").write_text(f"path,{columns}\npoint.npy,a,x\n")
    trained = DataSettings(label="kind", path="file")
    assert collected(plane, [tmp_path / "list.csv"], trained=trained, label=label).labels == expected
