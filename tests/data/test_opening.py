"""The door: every kind of source gives the items it holds, whatever it is packed in."""

import csv
import gzip
import struct

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from PIL import Image

from samekind.data import DataSettings, Stored, TableReader, digits, memory_needed, open_data, prepare
from samekind.errors import DataError


def write_csv(path, heading, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([heading, *rows])
    return path


def test_a_name_is_opened_as_itself():
    assert open_data("digits").inputs is digits().inputs


def test_a_folder_its_archive_and_a_manifest_of_it_are_the_same_items(make_folder, zipped, tmp_path):
    root = make_folder({"cat": 2, "birds/owl": 3})
    rows = [
        (f"animals/{file.relative_to(root)}", file.parent.relative_to(root))
        for file in sorted(root.rglob("*.png"))
    ]
    opened = [
        open_data(root),
        open_data(str(zipped(root))),
        open_data(write_csv(tmp_path / "list.csv", ["path", "label"], rows)),
    ]
    assert [items.classes for items in opened] == [("birds/owl", "cat")] * 3
    assert len({items.fingerprint() for items in opened}) == 1
    stored = [open_data(source, settings=DataSettings(memory="never")) for source in (root, zipped(root))]
    assert all(isinstance(items.inputs, Stored) for items in stored)
    assert len({items.fingerprint() for items in stored}) == 1
    assert torch.equal(stored[1].inputs[:], opened[0].inputs)


def test_pictures_of_different_sizes_are_opened_with_one_and_again_with_the_same(make_folder, make_picture):
    root = make_folder({"cat": 3, "dog": 2})
    make_picture(root / "dog" / "9.png", height=5, width=4)
    items = open_data(root)
    assert items.shape == (3, 6, 6)
    assert items.source.settings == DataSettings(size=6)
    assert "2 different sizes" in items.notes[0]
    # Smaller pictures that come later do not change how those of a run are read.
    for number in range(9):
        make_picture(root / "dog" / f"small{number}.png", height=3, width=3)
    assert open_data(root).shape == (3, 3, 3)
    assert open_data(root, settings=items.source.settings).shape == (3, 6, 6)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_is_opened_by_its_label_column(tmp_path, kind):
    if kind == "csv":
        path = write_csv(tmp_path / "t.csv", ["a", "species", "b"], [[1, "x", 2], [3, "y", 4]])
    else:
        path = tmp_path / "t.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"a": [1, 3], "species": ["x", "y"], "b": [2, 4]}), path)
    items = open_data(path, settings=DataSettings(label="species"))
    assert items.inputs.tolist() == [[1, 2], [3, 4]]
    assert isinstance(items.reader, TableReader)


def test_idx_files_arrays_and_sprites_are_known(tmp_path):
    images = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4)
    folder = tmp_path / "idx"
    folder.mkdir()
    heading = struct.pack(">BBBBIII", 0, 0, 8, 3, *images.shape)
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(heading + images.tobytes()))
    (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 2) + b"\x05\x07")
    np.savez(tmp_path / "set.npz", x=images, y=np.array([5, 7]))
    sprites = tmp_path / "sprites"
    sprites.mkdir()
    Image.fromarray(images.reshape(2, 16)).save(sprites / "batch.png")
    (sprites / "labels.json").write_text("[5, 7]", encoding="utf-8")
    sources = [folder, folder / "train-images-idx3-ubyte.gz", tmp_path / "set.npz", sprites]
    assert len({open_data(source).fingerprint() for source in sources}) == 1


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "digit",
            '^there is no data "digit", nor a file or folder of that name; '
            'did you mean "digits"[?] Known: characters, digits$',
        ),
        ("no/such/folder", "there is no file or folder .*no/such/folder"),
        (
            "none.csv",
            r"there is no file or folder .*none\.csv; expected a name .*, a folder of class folders",
        ),
    ],
)
def test_refuses_a_missing_source(tmp_path, source, says):
    with pytest.raises(DataError, match=says):
        open_data(source if source == "digit" else tmp_path / source)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("photo.jpg", r"photo\.jpg is a single picture"),
        ("x.npy", r"x\.npy is an array without labels"),
        ("notes.docx", r"cannot tell what .*notes\.docx is"),
    ],
)
def test_refuses_an_unknown_format(tmp_path, name, says):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DataError, match=says):
        open_data(tmp_path / name)


def test_refuses_an_empty_folder(tmp_path):
    with pytest.raises(
        DataError, match="has no pictures, sounds or arrays; expected folders of them, one for each class"
    ):
        open_data(tmp_path)


def test_memory_is_known_before_decoding(make_folder, zipped, tmp_path):
    root = make_folder({"cat": 2, "dog": 3})
    assert memory_needed(root) == open_data(root).inputs.nbytes == 5 * 3 * 6 * 8
    small = DataSettings(size=4, channels=1)
    assert memory_needed(zipped(root), settings=small) == 5 * 4 * 4
    np.savez(tmp_path / "set.npz", x=np.zeros((3, 7), dtype=np.float64), y=np.array([0, 1, 1]))
    assert memory_needed(tmp_path / "set.npz") == 3 * 7 * 4
    assert memory_needed("digits") == digits().inputs.nbytes


def test_items_know_their_source(tmp_path, monkeypatch):
    path = tmp_path / "flowers.csv"
    path.write_text("petal,label\n1.5,rose\n2.0,tulip\n2.5,rose\n0.5,tulip\n")
    monkeypatch.chdir(tmp_path)
    settings = DataSettings(columns=("petal",))
    items = open_data("flowers.csv", settings=settings)
    assert items.source == (str(path), settings)
    assert digits().source == open_data("digits").source == ("digits", DataSettings())


def test_a_selection_of_items_has_no_source_and_their_sets_have():
    assert digits().take(torch.arange(30)).source is None
    assert digits().only(["1", "2"]).source is None
    assert digits().to("cpu").source == digits().source
    sets = prepare(digits(), unseen=["7", "8", "9"])
    assert sets.source == digits().source
    assert sets.train.source is None
