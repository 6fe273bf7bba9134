"""CIFAR as its authors publish it: labels and pictures by hand, record by record."""

import pickle

import numpy as np
import pytest
import torch

from samekind.data import DataSettings, open_data
from samekind.data.collecting import collect
from samekind.data.sources.cifar import labelled, recognises
from samekind.errors import DataError

TEN = ["airplane", "automobile", "bird", "cat"]


def drawn(count, seed):
    """Labels, and pictures (n, 3, 32, 32)."""
    draw = np.random.default_rng(seed)
    return draw.integers(0, len(TEN), count), draw.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8)


BATCHES = {"data_batch_1": drawn(3, 1), "data_batch_2": drawn(2, 2), "test_batch": drawn(2, 3)}
LABELS = [TEN[label] for labels, _ in BATCHES.values() for label in labels]
PICTURES = torch.tensor(np.concatenate([pictures for _, pictures in BATCHES.values()]))


def binary(folder, batches=BATCHES, *, coarse=b""):
    """As the binary version is: a label, the reds, the greens, the blues, line by line."""
    for name, (labels, pictures) in batches.items():
        with (folder / f"{name}.bin").open("wb") as file:
            for label, picture in zip(labels, pictures, strict=True):
                file.write(coarse + bytes([label]))
                for colour in picture:
                    for line in colour:
                        file.write(bytes(line.tolist()))
    return folder


def ten_binary(folder):
    (folder / "batches.meta.txt").write_text("\n".join(TEN) + "\n\n", encoding="utf-8")
    (folder / "readme.html").write_text("", encoding="utf-8")
    return binary(folder)


def hundred_binary(folder):
    (folder / "fine_label_names.txt").write_text("\n".join(TEN), encoding="utf-8")
    (folder / "coarse_label_names.txt").write_text("vehicles\nanimals\n", encoding="utf-8")
    train = tuple(np.concatenate(arrays) for arrays in zip(*list(BATCHES.values())[:2], strict=True))
    return binary(folder, {"train": train, "test": BATCHES["test_batch"]}, coarse=b"\x01")


def pickled(folder, batches, *, labels, names, meta):
    for name, (given, pictures) in batches.items():
        table = {labels: given.tolist(), "data": pictures.reshape(len(pictures), -1), "filenames": []}
        (folder / name).write_bytes(pickle.dumps(table, 2))
    (folder / meta).write_bytes(pickle.dumps({names: TEN}, 2))
    return folder


def ten_pickled(folder):
    return pickled(folder, BATCHES, labels="labels", names="label_names", meta="batches.meta")


def hundred_pickled(folder):
    train = tuple(np.concatenate(arrays) for arrays in zip(*list(BATCHES.values())[:2], strict=True))
    batches = {"train": train, "test": BATCHES["test_batch"]}
    return pickled(folder, batches, labels="fine_labels", names="fine_label_names", meta="meta")


@pytest.mark.parametrize("make", [ten_binary, hundred_binary, ten_pickled, hundred_pickled])
def test_pictures_come_in_order_with_their_names_and_parts(make, tmp_path):
    assert recognises(make(tmp_path), DataSettings(), None)
    items = open_data(tmp_path)
    assert torch.equal(items.inputs, PICTURES)
    assert [items.classes[label] for label in items.labels] == LABELS
    assert items.parts == ("train",) * 5 + ("test",) * 2
    assert items.classes == tuple(name for name in TEN if name in LABELS)
    assert (items.reader.shape, len(set(items.ids))) == ((3, 32, 32), 7)


def test_settings_hold_as_for_any_pictures(tmp_path):
    classes = ("cat", "bird", "automobile", "airplane")
    settings = DataSettings(size=16, channels=1, classes=classes)
    items = open_data(ten_binary(tmp_path), settings=settings)
    assert items.shape == (1, 16, 16)
    assert items.classes == classes
    assert [items.classes[label] for label in items.labels] == LABELS


def test_the_tenth_file_comes_after_the_second(tmp_path):
    (tmp_path / "batches.meta.txt").write_text("\n".join(map(str, range(12))), encoding="utf-8")
    grey = np.zeros((1, 3, 32, 32), np.uint8)
    binary(tmp_path, {f"data_batch_{number}": (np.array([number]), grey) for number in range(1, 12)})
    items = labelled(tmp_path, DataSettings())
    assert [items.classes[label] for label in items.labels] == [str(number) for number in range(1, 12)]
    assert items.parts is None


def test_a_trained_space_reads_them_too(tmp_path):
    items = open_data(ten_binary(tmp_path))
    collection = collect([tmp_path], items.reader)
    assert torch.equal((collection.inputs[:] * 255).round().byte(), PICTURES)
    assert collection.labels == tuple(LABELS)


def test_does_not_recognise_a_folder_of_class_folders(tmp_path):
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
    (tmp_path / "meta").write_bytes(b"")
    assert not recognises(tmp_path, DataSettings(), None)
    (tmp_path / "data_batch_1.bin").write_bytes(b"")
    assert not recognises(tmp_path, DataSettings(), None)


@pytest.mark.parametrize("content", [b"", b"x" * 3072])
def test_refuses_truncated_records(tmp_path, content):
    ten_binary(tmp_path)
    (tmp_path / "data_batch_2.bin").write_bytes(content)
    with pytest.raises(
        DataError, match=rf"data_batch_2\.bin should hold records of 3,073 .* {len(content):,} b"
    ):
        open_data(tmp_path)


def test_refuses_a_class_without_a_name(tmp_path):
    ten_binary(tmp_path)
    (tmp_path / "batches.meta.txt").write_text("airplane\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"\.bin has a picture of class \d, but there are names for 1 classes"
    ):
        open_data(tmp_path)


@pytest.mark.parametrize(
    "table",
    [
        [1, 2],
        {"labels": [0], "data": np.zeros((2, 3072), np.uint8)},
        {"labels": [0], "data": np.zeros((1, 3072))},
        {"labels": ["0"], "data": np.zeros((1, 3072), np.uint8)},
        {"data": np.zeros((1, 3072), np.uint8)},
    ],
)
def test_refuses_a_pickle_of_something_else(tmp_path, table):
    ten_pickled(tmp_path)
    (tmp_path / "test_batch").write_bytes(pickle.dumps(table, 2))
    with pytest.raises(
        DataError, match=r"test_batch does not hold what a file of CIFAR does: .* called labels"
    ):
        open_data(tmp_path)


def test_refuses_missing_class_names(tmp_path):
    ten_pickled(tmp_path)
    (tmp_path / "batches.meta").write_bytes(pickle.dumps({"label_names": 3}, 2))
    with pytest.raises(DataError, match=r"batches\.meta has no names of classes; .* called label_names"):
        open_data(tmp_path)
