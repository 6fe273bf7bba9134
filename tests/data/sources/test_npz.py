"""NumPy archives: arrays found by their names, labels by number or text, and nothing run."""

import zipfile
from itertools import product

import numpy as np
import pytest
import torch

from samekind.data import DataSettings
from samekind.data.sources.npz import NAMES, labelled, read_npz
from samekind.errors import DataError

X = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = np.array([1, 0, 10, 1])


def saved(folder, **arrays):
    np.savez(folder / "set.npz", **arrays)
    return folder / "set.npz"


def test_arrays_are_found_by_any_of_their_names(tmp_path):
    for inputs, labels in product(NAMES["inputs"], ("labels", "y", "Y")):
        items = labelled(saved(tmp_path, **{inputs: X, labels: Y}), DataSettings())
        assert torch.equal(items.inputs, torch.tensor(X))
        assert items.classes == ("0", "1", "10")
        assert items.labels.tolist() == [1, 0, 2, 1]
        assert items.name == "set.npz"


@pytest.mark.parametrize(
    "labels", [np.array(["b", "a", "c", "b"]), np.array([1, 0, 2, 1]), np.array([1.0, 0, 2, 1])]
)
def test_labels_are_texts_or_indices_into_the_classes(tmp_path, labels):
    items = labelled(
        saved(tmp_path, inputs=X, labels=labels, classes=np.array(["a", "b", "c", "d"])), DataSettings()
    )
    assert items.classes == ("a", "b", "c", "d")
    assert items.labels.tolist() == [1, 0, 2, 1]


def test_domains_groups_and_parts_come_along(tmp_path):
    path = saved(
        tmp_path,
        inputs=X,
        labels=Y,
        domains=np.array(["u", "v", "u", "v"]),
        groups=np.array([7, 7, 8, 8]),
        split=np.array(["train", "test", "train", "test"]),
    )
    items = labelled(path, DataSettings())
    assert (items.domains.tolist(), items.domain_names) == ([0, 1, 0, 1], ("u", "v"))
    assert items.groups.tolist() == [0, 0, 1, 1]
    assert items.parts == ("train", "test", "train", "test")


def test_pictures_stay_bytes_and_are_resized(tmp_path):
    path = saved(tmp_path, images=np.zeros((4, 8, 8), dtype=np.uint8), y=Y)
    assert labelled(path, DataSettings()).inputs.shape == (4, 1, 8, 8)
    items = labelled(path, DataSettings(size=(4, 6), channels=3))
    assert items.inputs.shape == (4, 3, 4, 6)
    assert items.reader.shape == (3, 4, 6)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"inputs": X}, r'no array "labels" \(nor y, targets, label\); it has inputs'),
        ({"labels": Y}, r'no array "inputs"'),
        ({"first": X, "second": Y}, r'no array "inputs" .*; it has first, second'),
        (
            {"inputs": X, "labels": Y[:3]},
            r"labels of set\.npz must be one for each of the 4 items; got \(3,\)",
        ),
        (
            {"inputs": X, "labels": np.array([1, 0, np.inf, 1])},
            r"must be texts or whole numbers; got float64",
        ),
        (
            {"inputs": X, "labels": np.array(["a", "", "b", " "])},
            r"labels of set\.npz are empty for 2 of the 4 items, the first is item 1",
        ),
        ({"inputs": X, "labels": Y + 0.5}, r"must be texts or whole numbers; got float64"),
        ({"inputs": X, "labels": Y, "classes": np.array(["a", "b"])}, r"indices into its 2 classes; got 10"),
        ({"inputs": X, "labels": Y, "groups": Y[:2]}, r"groups of set\.npz must be one for each"),
    ],
)
def test_refuses_arrays_that_do_not_fit(tmp_path, arrays, says):
    with pytest.raises(DataError, match=says):
        labelled(saved(tmp_path, **arrays), DataSettings())


def test_refuses_pickled_objects_and_files_that_are_not_archives(tmp_path):
    np.savez(tmp_path / "code.npz", inputs=np.array([print], dtype=object), labels=Y, allow_pickle=True)
    with pytest.raises(DataError, match=r'code\.npz: it holds values of the type "\|O"'):
        read_npz(tmp_path / "code.npz")
    (tmp_path / "text.npz").write_text("no archive", encoding="utf-8")
    with pytest.raises(DataError, match=r"cannot read .*text\.npz"):
        read_npz(tmp_path / "text.npz")
    with (tmp_path / "single.npz").open("wb") as file:
        np.save(file, X)
    with pytest.raises(DataError, match=r"single\.npz"):
        read_npz(tmp_path / "single.npz")
    with pytest.raises(DataError, match="no file"):
        read_npz(tmp_path / "none.npz")


@pytest.mark.parametrize(("after", "byte"), [(b"PK\1\2", 6), (b"PK\3\4", 40)])
def test_refuses_a_damaged_archive(tmp_path, after, byte):
    """The version it takes to unpack the first array; and the compressed content of it."""
    np.savez_compressed(tmp_path / "set.npz", inputs=X, labels=Y)
    content = bytearray((tmp_path / "set.npz").read_bytes())
    start = content.index(after) + byte
    content[start : start + 30] = b"\xff" * 30
    (tmp_path / "set.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"cannot (read|unpack) .*set\.npz"):
        read_npz(tmp_path / "set.npz")


def test_an_array_that_claims_more_than_its_bytes_gets_no_memory(tmp_path):
    """A header of eight petabytes, in an archive whose sizes fit the header."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    with zipfile.ZipFile(tmp_path / "set.npz", "w") as archive:
        archive.writestr("inputs.npy", content)
    with pytest.raises(DataError, match="asks for 8,000,000,000,000,000 bytes"):
        read_npz(tmp_path / "set.npz")
