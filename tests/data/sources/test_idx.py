"""IDX files: pairs of images and labels, packed or not, and a sentence for each way they can be wrong."""

import gzip
import struct

import numpy as np
import pytest
import torch

from samekind.data import DataSettings
from samekind.data.sources.idx import labelled, read_idx, recognises
from samekind.errors import DataError


def idx(array):
    heading = struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return heading + array.astype(np.uint8).tobytes()


def images(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 5, 4), dtype=np.uint8)


def save_pair(folder, begins, count, *, dot=False, packed=False, seed=0):
    mark, end = "." if dot else "-", ".gz" if packed else ""
    pack = gzip.compress if packed else bytes
    labels = np.arange(count) % 3
    (folder / f"{begins}-images{mark}idx3-ubyte{end}").write_bytes(pack(idx(images(count, seed))))
    (folder / f"{begins}-labels{mark}idx1-ubyte{end}").write_bytes(pack(idx(labels)))
    return folder / f"{begins}-images{mark}idx3-ubyte{end}"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dot", [False, True])
def test_a_file_finds_its_labels(tmp_path, packed, dot):
    path = save_pair(tmp_path, "train", 7, dot=dot, packed=packed)
    assert recognises(path, DataSettings(), None)
    items = labelled(path, DataSettings())
    assert torch.equal(items.inputs, torch.tensor(images(7))[:, None])
    assert items.labels.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert items.classes == ("0", "1", "2")
    assert items.parts is None
    assert items.reader.shape == (1, 5, 4)


def test_a_folder_of_two_pairs_knows_their_parts(tmp_path):
    save_pair(tmp_path, "t10k", 3, seed=1)
    save_pair(tmp_path, "train", 6, packed=True)
    items = labelled(tmp_path, DataSettings())
    assert items.parts == ("train",) * 6 + ("test",) * 3
    assert items.ids[5:7] == ("train 5", "test 0")
    assert torch.equal(items.inputs[6:, 0], torch.tensor(images(3, 1)))


def test_a_file_with_a_packed_copy_is_read_once(tmp_path):
    """Packed and unpacked, and with a dot or a dash; what macOS leaves beside it is none of them."""
    for begins in ("train", "t10k"):
        for dot, packed in ((False, True), (False, False), (True, False)):
            save_pair(tmp_path, begins, 6, dot=dot, packed=packed)
    (tmp_path / "._train-images-idx3-ubyte").write_bytes(b"x")
    items = labelled(tmp_path, DataSettings())
    assert items.parts == ("train",) * 6 + ("test",) * 6
    assert len(set(items.ids)) == 12


def test_ignores_folders_named_like_files(tmp_path):
    """As archives of MNIST are unpacked by some."""
    save_pair(tmp_path, "train", 6, dot=True)
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        (tmp_path / name).mkdir()
    assert len(labelled(tmp_path, DataSettings())) == 6
    assert recognises(tmp_path, DataSettings(), None)
    (tmp_path / "train-images.idx3-ubyte").unlink()
    assert not recognises(tmp_path, DataSettings(), None)


def test_sets_with_labels_of_their_own_are_not_mixed(tmp_path):
    for begins in ("emnist-letters-train", "emnist-letters-test"):
        save_pair(tmp_path, begins, 3)
    assert len(labelled(tmp_path, DataSettings())) == 6
    path = save_pair(tmp_path, "emnist-digits-train", 3)
    with pytest.raises(
        DataError, match=r"several sets of images \(emnist-digits-.*, emnist-letters-.*\); move each into"
    ):
        labelled(tmp_path, DataSettings())
    assert len(labelled(path, DataSettings())) == 3


def test_numbered_files_are_one_set(tmp_path):
    for number in (1, 2):
        save_pair(tmp_path, f"part{number}-train", 3)
    assert len(labelled(tmp_path, DataSettings())) == 6


def test_images_are_resized(tmp_path):
    items = labelled(save_pair(tmp_path, "train", 3), DataSettings(size=(10, 8), channels=3))
    assert items.inputs.shape == (3, 3, 10, 8)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it begins with nothing"),
        (b"\0\0\x0d\x03" + b"\0" * 20, "it begins with 00000d03"),
        (idx(images(2))[:-1], r"should hold 40 bytes for \(2, 5, 4\), but holds 39"),
        (idx(images(2)) + b"x", "but holds 41"),
        (idx(np.zeros(4)), "with 3 dimensions"),
    ],
)
def test_refuses_files_that_are_not_idx(tmp_path, content, says):
    (tmp_path / "train-images-idx3-ubyte").write_bytes(content)
    with pytest.raises(DataError, match=says):
        read_idx(tmp_path / "train-images-idx3-ubyte", 3)


def test_refuses_a_pair_of_different_lengths(tmp_path):
    path = save_pair(tmp_path, "train", 4)
    labels = tmp_path / "train-labels-idx1-ubyte"
    labels.write_bytes(idx(np.zeros(3)))
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte has 4 images, but .* has 3 labels"):
        labelled(path, DataSettings())
    labels.unlink()
    with pytest.raises(DataError, match=r"no file .*train-labels-idx1-ubyte; images and labels are a pair"):
        labelled(path, DataSettings())


def test_refuses_a_broken_gzip(tmp_path):
    path = save_pair(tmp_path, "train", 4, packed=True)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match=r"cannot read .*ubyte\.gz"):
        labelled(path, DataSettings())


def test_pairs_of_different_sizes_are_refused(tmp_path):
    save_pair(tmp_path, "train", 4)
    save_pair(tmp_path, "t10k", 4)
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(idx(np.zeros((4, 2, 2))))
    with pytest.raises(DataError, match=r"have different sizes: .*t10k"):
        labelled(tmp_path, DataSettings())
