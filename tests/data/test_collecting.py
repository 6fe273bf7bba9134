"""Collections: every kind of file read the space's way, in order, with its name and, if it has one, class."""

import zipfile

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from PIL import Image

from samekind.data import (
    DataSettings,
    ImageReader,
    SoundReader,
    Stored,
    TableReader,
    VectorReader,
    collect,
    collect_bytes,
    digits,
    scaled,
)
from samekind.errors import DataError, SettingError

PICTURES = ImageReader(height=6, width=8, channels=3)
ROWS = TableReader(columns=["a", "b"])
VECTORS = VectorReader(dimension=2)


@pytest.mark.parametrize("wrapped", [False, True])
def test_files_and_folders_and_archives_of_pictures(make_folder, make_picture, zipped, tmp_path, wrapped):
    root = make_folder({"cat": 1, "birds/owl": 2})
    alone = make_picture(tmp_path / "alone.jpg.png", seed=9)
    collection = collect([tmp_path / "alone.jpg.png", root, zipped(root, wrapped=wrapped)], PICTURES)
    assert collection.inputs.dtype == torch.uint8
    assert len(collection.inputs) == len(collection.ids) == 7
    assert collection.ids[0] == str(tmp_path / "alone.jpg.png")
    assert collection.ids[1] == str(root / "birds/owl/0.png")
    assert collection.labels == (None, "birds/owl", "birds/owl", "cat", "birds/owl", "birds/owl", "cat")
    assert torch.equal(collection.inputs[0], torch.tensor(alone.transpose(2, 0, 1).copy()))
    assert torch.equal(collection.inputs[1:4], collection.inputs[4:])
    assert collection.skipped == ()


def test_a_known_name_is_data_unless_there_is_such_a_folder(make_folder, monkeypatch, tmp_path):
    reader = ImageReader(height=8, width=8)
    collection, every = collect(["digits"], reader), digits()
    assert torch.equal(collection.inputs, every.inputs)
    assert collection.labels == tuple(every.classes[label] for label in every.labels.tolist())
    assert (collection.ids[0], len(set(collection.ids))) == ("digits, item 0", 1797)
    with pytest.raises(DataError, match=r"digits holds items of shape \(1, 8, 8\); expected \(3, 6, 8\)"):
        collect(["digits"], PICTURES)
    make_folder({"cat": 2}, name="digits")
    monkeypatch.chdir(tmp_path)
    assert collect(["digits"], PICTURES).labels == ("cat", "cat")


def test_pictures_in_the_root_have_no_class(make_folder, make_picture):
    root = make_folder({"cat": 1})
    make_picture(root / "loose.png")
    assert sorted(map(str, collect([root], PICTURES).labels)) == ["None", "cat"]


def test_many_pictures_stay_on_the_disk(make_folder):
    collection = collect([make_folder({"cat": 3})], PICTURES, settings=DataSettings(memory="never"))
    assert isinstance(collection.inputs, Stored)
    assert len(collection.inputs[:]) == 3


def test_unreadable_files_are_named_or_skipped_with_their_reason(make_folder, tmp_path):
    root = make_folder({"cat": 2})
    (root / "cat" / "0.png").write_bytes(b"broken")
    sources = [root, tmp_path / "none.png"]
    with pytest.raises(DataError, match=r"(?s)2 of 3 files cannot be read.*0\.png.*none\.png"):
        collect(sources, PICTURES)
    collection = collect(sources, PICTURES, skip_unreadable=True)
    assert collection.ids == (str(root / "cat" / "1.png"),)
    assert [name for name, _ in collection.skipped] == [
        str(root / "cat" / "0.png"),
        str(tmp_path / "none.png"),
    ]
    with pytest.raises(DataError, match=r"^there is no file .*none\.png"):
        collect([tmp_path / "none.png"], PICTURES, skip_unreadable=True)


def test_a_manifest_of_pictures(make_folder, tmp_path):
    root = make_folder({"cat": 2})
    (tmp_path / "list.csv").write_text(
        "path,label\nanimals/cat/1.png,x\nanimals/cat/0.png,y\n", encoding="utf-8"
    )
    collection = collect([tmp_path / "list.csv"], PICTURES)
    assert collection.labels == ("x", "y")
    assert collection.ids[0] == str(root / "cat" / "1.png")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r'table\.csv is a table, but this space reads pictures; .*"path"'):
        collect([tmp_path / "table.csv"], PICTURES)


def test_tables_by_the_names_of_their_columns(tmp_path):
    (tmp_path / "t.csv").write_text("b,extra,a,label\n1,x,2,p\n3,y,4,q\n", encoding="utf-8")
    pyarrow.parquet.write_table(pyarrow.table({"a": [5.0], "b": [6.0]}), tmp_path / "u.parquet")
    np.save(tmp_path / "v.npy", np.array([7.0, 8.0]))
    collection = collect([tmp_path / "t.csv", tmp_path / "u.parquet", tmp_path / "v.npy"], ROWS)
    assert collection.inputs.tolist() == [[2, 1], [4, 3], [5, 6], [7, 8]]
    assert collection.labels == ("p", "q", None, None)
    assert collection.ids[1] == f"{tmp_path / 't.csv'}, row 2"
    assert len(collect([tmp_path], ROWS).ids) == 4


@pytest.mark.parametrize("reader", [ROWS, VECTORS])
def test_other_columns_are_used_if_those_asked_for_are_missing(tmp_path, reader):
    for name, label in (("first", "kind"), ("second", "label"), ("third", "sort")):
        (tmp_path / f"{name}.csv").write_text(f"a,b,{label}\n1,2,{name}\n", encoding="utf-8")
    both = [tmp_path / "first.csv", tmp_path / "second.csv"]
    asked = {"settings": DataSettings(label="kind"), "otherwise": DataSettings()}
    assert collect(both, reader, **asked).labels == ("first", "second")
    if reader is ROWS:
        assert collect([tmp_path], reader, **asked).labels == ("first", "second", None)
        assert collect(both, reader, settings=DataSettings(label="kind")).labels == ("first", None)
    else:
        with pytest.raises(DataError, match=r"second\.csv has 3 columns of features"):
            collect(both, reader, settings=DataSettings(label="kind"))
    (tmp_path / "both.csv").write_text("a,b,kind,label\n1,2,x,3\n", encoding="utf-8")
    if reader is ROWS:
        assert collect([tmp_path / "both.csv"], reader, **asked).labels == ("x",)


def test_another_column_of_paths_is_used_if_the_first_is_missing(make_folder, tmp_path):
    root = make_folder({"cat": 1})
    for name in ("file", "path", "place"):
        (tmp_path / f"{name}.csv").write_text(f"{name}\n{root}/cat/0.png\n", encoding="utf-8")
    settings = {"settings": DataSettings(path="file"), "otherwise": DataSettings()}
    assert len(collect([tmp_path / "file.csv", tmp_path / "path.csv"], PICTURES, **settings).ids) == 2
    with pytest.raises(DataError, match=r'place\.csv is a table, .* expected a column "file" of files'):
        collect([tmp_path / "place.csv"], PICTURES, **settings)


@pytest.mark.parametrize("reader", [ROWS, VECTORS], ids=["by name", "by width"])
def test_a_column_may_name_the_rows(tmp_path, reader):
    (tmp_path / "t.csv").write_text("name,a,b\nfirst,1,2\nfirst,3,4\n7,5,6\n")
    collection = collect([tmp_path / "t.csv"], reader, named_by="name")
    assert collection.ids == ("first", "first", "7")
    assert collection.inputs.tolist() == [[1, 2], [3, 4], [5, 6]]
    if reader is ROWS:
        (tmp_path / "below").mkdir()
        (tmp_path / "t.csv").rename(tmp_path / "below" / "t.csv")
        assert collect([tmp_path], reader, named_by="name").ids == collection.ids
        assert collect([tmp_path], reader).ids[0] == f"{tmp_path / 'below' / 't.csv'}, row 1"
        with pytest.raises(DataError, match=r't\.csv has no column "nmae"; did you mean "name"\?'):
            collect([tmp_path], reader, named_by="nmae")


def test_refuses_a_column_of_ids_for_pictures(make_folder):
    with pytest.raises(SettingError, match='"name" cannot name pictures, whose ids are their paths; leave'):
        collect([make_folder({"cat": 1})], PICTURES, named_by="name")


def test_vectors_from_arrays_and_tables_of_their_width(tmp_path):
    np.save(tmp_path / "one.npy", np.array([1.0, 2.0]))
    np.save(tmp_path / "many.npy", np.array([[3.0, 4.0], [5.0, 6.0]]))
    np.savez(tmp_path / "set.npz", x=np.array([[7.0, 8.0]]), y=np.array(["p"]))
    (tmp_path / "t.csv").write_text("u,v\n9,10\n", encoding="utf-8")
    names = ["one.npy", "many.npy", "set.npz", "t.csv"]
    collection = collect([tmp_path / name for name in names], VECTORS)
    assert collection.inputs.flatten().tolist() == list(range(1, 11))
    assert collection.labels == (None, None, None, "p", None)
    assert collection.ids[2] == f"{tmp_path / 'many.npy'}, item 1"
    with pytest.raises(DataError, match=r"t\.csv has 2 columns of features, but this space reads 3: u, v"):
        collect([tmp_path / "t.csv"], VectorReader(dimension=3))
    with pytest.raises(DataError, match=r"many\.npy holds items of shape \(2,\); expected \(3,\)"):
        collect([tmp_path / "many.npy"], VectorReader(dimension=3))


def test_pictures_among_arrays_are_scaled_like_them(make_picture, tmp_path):
    image = make_picture(tmp_path / "a.png")
    floats = np.random.default_rng(0).random((3, 6, 8)).astype(np.float32)
    np.save(tmp_path / "b.npy", floats)
    collection = collect([tmp_path / "a.png", tmp_path / "b.npy"], PICTURES)
    assert collection.inputs.dtype == torch.float32
    torch.testing.assert_close(collection.inputs[0], scaled(torch.tensor(image.transpose(2, 0, 1).copy())))
    torch.testing.assert_close(collection.inputs[1], torch.tensor(floats))


def test_pictures_in_arrays_are_resized_for_the_space(tmp_path):
    np.savez(tmp_path / "set.npz", images=np.zeros((2, 9, 9), dtype=np.uint8))
    assert collect([tmp_path / "set.npz"], PICTURES).inputs.shape == (2, 3, 6, 8)


@pytest.mark.parametrize("sources", [[], ["empty"]])
def test_refuses_an_empty_collection(tmp_path, sources):
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        DataError, match=r"there is nothing to read in .*; expected items of shape \(3, 6, 8\)"
    ):
        collect([tmp_path / source for source in sources], PICTURES)
    with pytest.raises(DataError, match=r"there is nothing to read in .*; expected sounds$"):
        collect([tmp_path / source for source in sources], SoundReader())


def save_idx(path, array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes())


def test_idx_files_and_folders_of_them_come_with_their_labels(tmp_path):
    drawn = np.random.default_rng(0).integers(0, 256, (3, 6, 8), dtype=np.uint8)
    save_idx(tmp_path / "t10k-images-idx3-ubyte", drawn)
    save_idx(tmp_path / "t10k-labels-idx1-ubyte", np.array([4, 0, 4]))
    reader = ImageReader(height=6, width=8)
    for source in (tmp_path, tmp_path / "t10k-images-idx3-ubyte"):
        collection = collect([source], reader)
        assert torch.equal(collection.inputs, scaled(torch.tensor(drawn[:, None])))
        assert collection.labels == ("4", "0", "4")
        assert collection.ids[2] == f"{source}, test 2"
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    assert collect([tmp_path / "t10k-images-idx3-ubyte"], reader).labels == (None, None, None)


def test_a_row_of_a_sprite_is_a_picture(tmp_path):
    drawn = np.random.default_rng(0).integers(0, 256, (3, 16, 3), dtype=np.uint8)
    Image.fromarray(drawn).save(tmp_path / "data_batch_1.png")
    (tmp_path / "train_labels.json").write_text("[1, 0, 1]")
    collection = collect([tmp_path], ImageReader(height=4, width=4, channels=3))
    assert torch.equal(collection.inputs, scaled(torch.tensor(drawn).view(3, 4, 4, 3).permute(0, 3, 1, 2)))
    assert collection.labels == ("1", "0", "1")


def test_labels_of_arrays_have_the_names_they_have_in_training(tmp_path):
    inputs = np.zeros((2, 2), dtype=np.float32)
    np.savez(tmp_path / "named.npz", inputs=inputs, labels=[1, 0], classes=["cat", "dog"])
    np.savez(tmp_path / "floats.npz", inputs=inputs, labels=[1.0, 0.0])
    assert collect([tmp_path / "named.npz"], VECTORS).labels == ("dog", "cat")
    assert collect([tmp_path / "floats.npz"], VECTORS).labels == ("1", "0")


def test_a_row_without_a_label_is_an_item(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\n1,2,x\n3,4,\n")
    assert collect([tmp_path / "t.csv"], ROWS).labels == ("x", None)


def test_endings_of_arrays_may_be_upper_case(tmp_path):
    with (tmp_path / "A.NPY").open("wb") as file:
        np.save(file, np.ones(2, dtype=np.float32))
    assert collect([tmp_path / "A.NPY"], VECTORS).inputs.tolist() == [[1, 1]]


def test_refuses_a_table_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("set/t.csv", "a,b\n1,2\n")
    with pytest.raises(
        DataError, match=r"rows\.zip/set/t\.csv: tables are not read from archives; unpack it"
    ):
        collect([tmp_path / "rows.zip"], ROWS)


def test_groups_come_along_where_all_items_have_one(tmp_path):
    for name, group in (("one", "group"), ("two", "group"), ("three", "other")):
        (tmp_path / f"{name}.csv").write_text(f"label,{group},a\nx,g1,1\ny,g2,2\n")
    reader = TableReader(columns=("a",))
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    assert collect([one, two], reader).groups == ("g1", "g2", "g1", "g2")
    assert collect([one, three], reader).groups is None
    named = DataSettings(group="other")
    assert collect([one, three], reader, settings=named, otherwise=DataSettings()).groups == ("g1", "g2") * 2
    np.savez(tmp_path / "four.npz", inputs=np.zeros((2, 1), np.float32), groups=np.array([3, 4]))
    assert collect([tmp_path / "four.npz"], VectorReader(dimension=1)).groups == ("3", "4")


def test_uploads_are_read_as_the_files_are(make_picture, tmp_path):
    make_picture(tmp_path / "a.png", seed=1)
    make_picture(tmp_path / "b.png", seed=2)
    files = [tmp_path / "a.png", tmp_path / "b.png"]
    uploaded = collect_bytes([(file.name, file.read_bytes()) for file in files], PICTURES)
    assert torch.equal(uploaded.inputs, collect(files, PICTURES).inputs)
    assert (uploaded.ids, uploaded.labels) == (("a.png", "b.png"), (None, None))


@pytest.mark.parametrize("reader", [ROWS, VECTORS])
def test_uploads_of_tables_and_arrays_have_an_item_in_each_row(tmp_path, reader):
    np.save(tmp_path / "many.npy", np.array([[5.0, 6.0], [7.0, 8.0]]))
    arrays = (tmp_path / "many.npy").read_bytes()
    uploads = [("t.csv", b"a,b,label\n1,2,x\n3,4,y\n"), ("t.tsv", b"a\tb\n9\t9\n"), ("many.npy", arrays)]
    uploaded = collect_bytes(uploads, reader)
    assert uploaded.inputs.tolist() == [[1, 2], [3, 4], [9, 9], [5, 6], [7, 8]]
    assert uploaded.ids[:2] == ("t.csv, row 1", "t.csv, row 2")
    assert uploaded.labels == ("x", "y", None, None, None)


def test_unreadable_uploads_are_named_or_skipped_with_their_reason(make_picture, tmp_path):
    make_picture(tmp_path / "a.png")
    good = ("a.png", (tmp_path / "a.png").read_bytes())
    uploads = [("t.csv", b"a,b\n1,2\n"), good, ("c.png", b"broken")]
    with pytest.raises(
        DataError, match=r"(?s)2 of 3 files cannot be read.*t\.csv is a table.*cannot read c\.png"
    ):
        collect_bytes(uploads, PICTURES)
    uploaded = collect_bytes(uploads, PICTURES, skip_unreadable=True)
    assert (uploaded.ids, [name for name, _ in uploaded.skipped]) == (("a.png",), ["t.csv", "c.png"])
    with pytest.raises(DataError, match=r'^t\.csv has no column "b"'):
        collect_bytes([("t.csv", b"a\n1\n")], ROWS, skip_unreadable=True)
    with pytest.raises(DataError, match="nothing to read in no source at all"):
        collect_bytes([], PICTURES)
