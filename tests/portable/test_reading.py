"""Files as items without PyTorch, against the readers of `samekind.data`."""

import io

import numpy as np
import pytest
from PIL import Image

from samekind import data
from samekind.errors import DataError, SpaceError
from samekind.parts import describe
from samekind.portable.reading import item_shape, padded, reader_of


def both(reader):
    part = describe(reader)
    return reader_of(part["name"], part["arguments"])


def array(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def picture(height=9, width=7, ending="PNG"):
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, ending)
    return stream.getvalue()


@pytest.mark.parametrize("ending", ["PNG", "JPEG", "BMP"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"channels": 3, "fit": "pad"},
        {"channels": 3, "fit": "crop", "cut_from": [8, 8]},
        {"channels": 3, "original_size": True},
    ],
)
def test_pictures_agree(settings, ending):
    reader = data.ImageReader(height=6, width=5, **settings)
    content = picture(ending=ending)
    assert (both(reader)(content, "a") == reader.read(content).numpy()).all()
    stored = array(np.random.default_rng(0).random((settings.get("channels", 1), 6, 5)))
    assert (both(reader)(stored, "a") == reader.read(stored).numpy()).all()


def test_sounds_agree():
    soundfile = pytest.importorskip("soundfile")
    stream = io.BytesIO()
    soundfile.write(stream, np.random.default_rng(0).uniform(-1, 1, 12000), 11025, format="WAV")
    reader = data.SoundReader(rate=8000, seconds=1.0)
    samples = both(reader)(stream.getvalue(), "a")
    assert (samples == reader.read(stream.getvalue())[0].numpy()).all()
    with pytest.raises(DataError, match="reads sounds"):
        both(reader)(array(np.zeros(3)), "a")


@pytest.mark.parametrize(
    ("reader", "values"),
    [
        (data.VectorReader(dimension=3), np.arange(3.0)),
        (data.TableReader(columns=["x", "y"]), np.arange(2, dtype=np.float32)),
        (data.ArrayReader(shape=[2, 3, 4]), np.arange(24, dtype=np.uint8).reshape(2, 3, 4)),
    ],
)
def test_arrays_agree(reader, values):
    part = describe(reader)
    assert item_shape(part["name"], part["arguments"]) == reader.shape
    read = both(reader)
    assert (read(array(values), "a") == reader.read(array(values)).numpy()).all()
    for content in (b"text", array(values[:1]), array(values)[:-1]):
        with pytest.raises(DataError, match=r"a .*npy|a does not fit"):
            read(content, "a")


def test_broken_pictures_are_named():
    read = both(data.ImageReader(height=6, width=5))
    for content in (b"no picture", picture()[:40]):
        with pytest.raises(DataError, match=r"cannot read a\.png: .*expected an image"):
            read(content, "a.png")


def test_unknown_readers_are_refused():
    with pytest.raises(SpaceError, match='by "Surprise"'):
        reader_of("Surprise", {})
    with pytest.raises(SpaceError, match="damaged"):
        reader_of("ImageReader", {"height": 3})


def test_features_are_padded_behind():
    batch = padded([np.ones((2, 3), np.float32), np.zeros((2, 1), np.float32)])
    assert batch.shape == (2, 2, 3)
    assert np.isnan(batch[1, :, 1:]).all()
    assert not np.isnan(batch[0]).any()
