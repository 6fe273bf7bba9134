"""Arrays as items: where the channels are, what is refused, and that nothing is run."""

import numpy as np
import pytest
import torch

from samekind.data import ARRAYS, PICTURES, ArrayReader, open_data
from samekind.data.media import arrays
from samekind.data.media.arrays import as_inputs, load_array, looks_like_pictures, stacked_arrays
from samekind.errors import DataError, SettingError


@pytest.mark.parametrize(
    ("shape", "came"),
    [
        ((2, 5, 6), (2, 1, 5, 6)),
        ((2, 5, 6, 3), (2, 3, 5, 6)),
        ((2, 3, 5, 6), (2, 3, 5, 6)),
        ((2, 1, 5, 6), (2, 1, 5, 6)),
        ((2, 7), (2, 7)),
    ],
)
def test_bytes_get_their_channels_to_the_front(shape, came):
    array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    inputs = as_inputs(array, "x")
    assert tuple(inputs.shape) == came
    assert inputs.dtype == torch.uint8
    if len(shape) == 4 and shape != came:
        assert torch.equal(inputs[1, 2], torch.tensor(array[1, :, :, 2]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_unchanged(dtype):
    inputs = as_inputs(np.array([[1.5, -2]], dtype=dtype), "x")
    assert inputs.tolist() == [[1.5, -2]]
    assert inputs.dtype == torch.float32


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((2, 3), dtype=np.int64), "x must hold floats or uint8, got int64"),
        (np.zeros(3), r"at least one vector per item; got \(3,\)"),
        (np.array([[0, 1], [np.nan, 0]]), r"not finite .*, the first at \[1, 0\]"),
        (np.array([[np.inf]]), "not finite"),
    ],
)
def test_refuses_arrays_that_are_not_inputs(array, says):
    with pytest.raises(DataError, match=says):
        as_inputs(array, "x")


def test_refuses_pickled_objects_and_files_that_are_not_arrays(tmp_path):
    np.save(tmp_path / "code.npy", np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"cannot read .*code\.npy"):
        load_array(tmp_path / "code.npy")
    with pytest.raises(DataError, match=r"no file .*none\.npy"):
        load_array(tmp_path / "none.npy")
    with (tmp_path / "many.npy").open("wb") as file:
        np.savez(file, a=np.zeros(2))
    with pytest.raises(
        DataError, match=r"many\.npy is an archive of several arrays; expected a \.npy array, or a name"
    ):
        load_array(tmp_path / "many.npy")


def test_single_arrays_must_agree(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.save(tmp_path / "b.npy", np.zeros(4))
    np.save(tmp_path / "c.npy", np.array([0, np.nan, 0]))
    np.save(tmp_path / "d.npy", np.float64(3))
    assert stacked_arrays([tmp_path / "a.npy"] * 2).shape == (2, 3)
    with pytest.raises(DataError, match=r"one shape and type; .*a\.npy has \(3,\) .*b\.npy has \(4,\)"):
        stacked_arrays([tmp_path / "a.npy", tmp_path / "b.npy"])
    with pytest.raises(DataError, match=r"c\.npy holds values that are not finite"):
        stacked_arrays([tmp_path / "a.npy", tmp_path / "c.npy"])
    with pytest.raises(DataError, match=r"d\.npy holds a single number"):
        stacked_arrays([tmp_path / "d.npy"])


def spectrograms(folder, low=-80.0, high=0.0, shape=(1, 40, 300)):
    """Two classes of three arrays with values from low to high."""
    random = np.random.default_rng(0)
    for label in ("anna", "ben"):
        (folder / label).mkdir(parents=True)
        for number in range(3):
            values = random.uniform(low, high, shape).astype(np.float32)
            np.save(folder / label / f"{number}.npy", values)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_spectrograms_are_arrays_and_not_pictures(tmp_path, packed):
    source = spectrograms(tmp_path / "voices")
    if packed:
        files = sorted(source.rglob("*.npy"))
        source = tmp_path / "voices.npz"
        np.savez(source, inputs=np.stack([np.load(file) for file in files]), labels=list("aaabbb"))
    items = open_data(source)
    assert items.medium is ARRAYS
    assert items.reader.shape == (1, 40, 300)
    assert any("values from -" in note and "read as arrays, not as pictures" in note for note in items.notes)
    encoder = items.medium.encoder(items.shape)
    assert (encoder.name, encoder.arguments["stem"]) == ("ResNet18", "miniimagenet")
    assert not items.medium.pretrained(items.shape)
    assert items.medium.augmentations(items.shape) == ()
    assert items.medium.standardise
    assert items.medium.units(items.shape) == "channels"


@pytest.mark.parametrize("shape", [(1, 9, 9), (3, 9, 9)])
def test_floats_from_0_to_1_and_bytes_are_pictures(tmp_path, shape):
    items = open_data(spectrograms(tmp_path / "set", 0, 1, shape))
    assert items.medium is PICTURES
    assert items.notes == ()
    assert looks_like_pictures((items.inputs * 255).to(torch.uint8))
    assert not looks_like_pictures(items.inputs * 255)
    assert not looks_like_pictures(torch.zeros(2, 2, 9, 9))


@pytest.mark.parametrize(
    ("shape", "pictures"),
    [((1, 40, 300), False), ((1, 300, 40), False), ((1, 40, 120), True), ((3, 40, 300), True)],
)
def test_floats_of_one_channel_far_from_square_are_arrays(tmp_path, shape, pictures):
    items = open_data(spectrograms(tmp_path / "set", 0, 1, shape))
    assert items.medium is (PICTURES if pictures else ARRAYS)
    assert any("far from square and are read as arrays" in note for note in items.notes) != pictures
    assert looks_like_pictures((items.inputs * 255).to(torch.uint8))
    assert looks_like_pictures(torch.empty(0, *shape)) == pictures


def test_a_sample_of_many_items_is_judged(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_JUDGED", 2 * 81)
    inputs = torch.rand(7, 1, 9, 9)
    assert looks_like_pictures(inputs)
    inputs[1] = 2
    assert looks_like_pictures(inputs)
    inputs[4] = 2
    assert not looks_like_pictures(inputs)


def test_an_array_is_read_from_its_bytes(tmp_path):
    array = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    np.save(tmp_path / "a.npy", array)
    reader = ArrayReader(shape=(2, 3, 4))
    assert torch.equal(reader.read((tmp_path / "a.npy").read_bytes()), torch.tensor(array))
    with pytest.raises(DataError, match=r"cannot read 9 bytes: expected a \.npy array of shape \(2, 3, 4\)"):
        reader.read(b"not array")
    with pytest.raises(SettingError, match=r"\(channels, height, width\), each 1 or more; got \[3, 4\]"):
        ArrayReader(shape=(3, 4))
