"""Sounds from open files; formats and damage are tried by the tests of `data.media.waves`."""

import io

import numpy as np
import pytest

from samekind.data.media import waves as tensors
from samekind.decoding import waves
from samekind.errors import DataError

soundfile = pytest.importorskip("soundfile")


def sound(samples, rate=16000, subtype="PCM_16"):
    stream = io.BytesIO()
    soundfile.write(stream, samples, rate, format="WAV", subtype=subtype)
    stream.seek(0)
    return stream


def test_samples_are_16_bit_and_clipped():
    samples = waves.decode(sound([0.5, -0.25, 3.0, -3.0], subtype="FLOAT"), "a", rate=16000, seconds=1)
    assert samples.dtype == np.int16
    assert samples.tolist() == [[16384, -8192, waves.LARGEST, -waves.LARGEST]]


def test_agrees_with_tensors():
    noise = np.random.default_rng(0).uniform(-1, 1, 3000)
    content = sound(noise, rate=11025).getvalue()
    samples = waves.decode(io.BytesIO(content), "a", rate=8000, seconds=1)
    assert (samples == tensors.decode(content, rate=8000, seconds=1).numpy()).all()
    assert waves.heading(io.BytesIO(content), "a") == tensors.heading(content)
    windows = [window.shape[1] for window in waves.windows(io.BytesIO(content), "a", rate=8000, seconds=0.1)]
    assert sum(windows) == samples.shape[1]


def test_what_is_no_sound_is_named():
    with pytest.raises(DataError, match="a is an empty file"):
        waves.heading(io.BytesIO(), "a")
    with pytest.raises(DataError, match=r"cannot read a: .*expected a sound"):
        waves.decode(io.BytesIO(b"no sound at all"), "a", rate=8000, seconds=1)
