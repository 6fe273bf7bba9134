"""Files of sound, decoded by libsndfile: one channel, at the rate that is asked for, as 16-bit samples."""

import re
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from samekind.acoustics import as_samples
from samekind.data.files import Readable, name_of, opened
from samekind.errors import DataError, PackageError

EXPECTED = "expected a sound, such as .wav, .flac, .ogg, .opus or .mp3"

#: Rates and channels beyond these are damage, not sound.
MOST_RATE, MOST_CHANNELS = 768_000, 64

#: Numbers that are decoded at a time.
BLOCK = 2**20

#: A length that a program writes that does not know it, as when it writes to a pipe.
UNKNOWN = 2**31 - 1

#: What libsndfile notes about a file that is shorter than it says.
SHORTER = re.compile(r"^data *: (\d+) \(should be (\d+)\)", re.MULTILINE)


class Heading(NamedTuple):
    """What the start of a file says: samples a second, channels, and how many samples each has."""

    rate: int
    channels: int
    samples: int

    @property
    def seconds(self) -> float:
        """How long the sound is; 0 if the file does not say."""
        return self.samples / self.rate if self.samples < UNKNOWN else 0.0

    def samples_at(self, rate: int, seconds: float) -> int:
        """How many samples are read at a rate, of at most so many seconds."""
        return max(1, min(-(-self.samples * rate // self.rate), round(rate * seconds)))


def heading(file: Readable) -> Heading:
    """The heading of a file; nothing is decoded. Raises DataError for a file that is no sound."""
    with _sound(file) as sound:
        return _heading(sound, name_of(file))


def decode(file: Readable, *, rate: int, seconds: float) -> Tensor:
    """The samples (1, time) of a file, int16. Channels are averaged. Of a sound longer than ``seconds`` the
    middle is read, and nothing else is decoded or held.

    Raises DataError for a file that is no sound, is empty, is cut short, or holds numbers that are not
    finite.
    """
    import soxr

    with _sound(file) as sound:
        start = _heading(sound, name_of(file))
        most = round(seconds * start.rate)
        if UNKNOWN > start.samples > most:
            sound.seek((start.samples - most) // 2)
        samples = np.concatenate(list(_blocks(sound, min(most, start.samples), name_of(file))))
    _expect_finite(samples, name_of(file))
    return _as_item(samples if start.rate == rate else soxr.resample(samples, start.rate, rate))


def windows(file: Readable, *, rate: int, seconds: float) -> Iterator[Tensor]:
    """A whole file in windows (1, time) of so many ``seconds``, int16, one after the other: however long it
    is, little of it is held. A rest shorter than half a window belongs to the last one.

    Raises DataError as `decode` does.
    """
    import soxr

    size, name = round(seconds * rate), name_of(file)
    with _sound(file) as sound:
        start = _heading(sound, name)
        stream = None if start.rate == rate else soxr.ResampleStream(start.rate, rate, 1, dtype="float32")
        left = np.empty(0, np.float32)
        for block in _blocks(sound, start.samples, name):
            _expect_finite(block, name)
            left = np.concatenate([left, block if stream is None else stream.resample_chunk(block)])
            while len(left) >= 2 * size:
                yield _as_item(left[:size])
                left = left[size:]
    if stream is not None:
        left = np.concatenate([left, stream.resample_chunk(np.empty(0, np.float32), last=True)])
    while len(left) >= 1.5 * size:
        yield _as_item(left[:size])
        left = left[size:]
    if len(left):
        yield _as_item(left)


def write_wave(path: Path, sound: Tensor, *, rate: int) -> None:
    """Write a sound (1, samples), floats in [-1, 1], as a 16-bit WAV file. Padding, NaN, is left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        samples = as_samples(sound[0, ~sound[0].isnan()].detach().cpu())
        file.writeframes(samples.numpy().astype("<i2").tobytes())


def _as_item(samples: "np.ndarray[Any, Any]") -> Tensor:
    return as_samples(torch.from_numpy(np.ascontiguousarray(samples, dtype=np.float32)))[None]


def _expect_finite(samples: "np.ndarray[Any, Any]", name: str) -> None:
    if not np.isfinite(samples).all():
        raise DataError(f"{name} holds samples that are not finite (NaN or infinity)")


def _blocks(sound: Any, count: int, name: str) -> "Iterator[np.ndarray[Any, Any]]":
    """The next samples, the mean of all channels, some at a time."""
    left = count
    while left > 0:
        block = sound.read(min(left, BLOCK // sound.channels), dtype="float32", always_2d=True)
        if not len(block):
            break
        left -= len(block)
        with np.errstate(all="ignore"):  # what is not finite is refused
            yield block.mean(1)
    if left == count:
        raise DataError(f"{name} holds no sound, not a single sample; {EXPECTED}")
    if left > 0 and count < UNKNOWN:
        raise DataError(f"{name} is cut short: {count - left:,} of {count:,} samples are there")


def _heading(sound: Any, name: str) -> Heading:
    rate, channels, samples = int(sound.samplerate), int(sound.channels), int(sound.frames)
    if not 1 <= rate <= MOST_RATE or not 1 <= channels <= MOST_CHANNELS:
        raise DataError(f"cannot read {name}: it claims {channels} channels at {rate} Hz; {EXPECTED}")
    shorter = SHORTER.search(sound.extra_info)
    if shorter and 0 < int(shorter[1]) < UNKNOWN and int(shorter[2]) < int(shorter[1]):
        raise DataError(
            f"{name} is cut short: {int(shorter[2]):,} of {int(shorter[1]):,} bytes of sound are there"
        )
    if not samples:
        raise DataError(f"{name} holds no sound, not a single sample; {EXPECTED}")
    return Heading(rate, channels, samples)


@contextmanager
def _sound(file: Readable) -> Iterator[Any]:
    """The open sound; what goes wrong within is a DataError."""
    try:
        import soundfile
        import soxr  # noqa: F401 (both are needed, and missed together)
    except (ImportError, OSError) as error:
        raise PackageError(
            f"reading sounds takes soundfile and soxr ({error}); "
            "install them by pip install 'samekind[speech]'"
        ) from error
    name = name_of(file)
    try:
        with opened(file) as stream:
            if not stream.read(1):
                raise DataError(f"{name} is an empty file; {EXPECTED}")
            stream.seek(0)
            # A path is opened by libsndfile itself: every read of a stream comes back to Python.
            with soundfile.SoundFile(str(file) if isinstance(file, Path) else stream) as sound:
                yield sound
    except FileNotFoundError:
        raise DataError(f"there is no file {name}; {EXPECTED}") from None
    except soundfile.LibsndfileError as error:
        why = str(error.error_string).strip().rstrip(".").removeprefix("Error : ")
        raise DataError(f"cannot read {name}: {why}; {EXPECTED}") from error
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise DataError(f"cannot read {name}: {error}; {EXPECTED}") from error
