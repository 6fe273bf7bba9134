"""Files of sound, decoded by libsndfile: one channel, at the rate that is asked for, as 16-bit samples."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from samekind.errors import DataError, PackageError

Samples = np.ndarray[Any, np.dtype[np.int16]]

#: A path, which libsndfile opens itself, or an open file.
Source = Path | BinaryIO

#: The sample that marks padding among 16-bit samples, and the largest that a sound can have.
PAD, LARGEST = -32768, 32767

EXPECTED = "expected a sound, such as .wav, .flac, .ogg, .opus or .mp3"

#: Rates and channels beyond these are damage, not sound.
MOST_RATE, MOST_CHANNELS = 768_000, 64

#: Numbers that are decoded at a time.
BLOCK = 2**20

#: A length that a program writes that does not know it, as when it writes to a pipe.
UNKNOWN = 2**31 - 1

#: What libsndfile notes about a file that is shorter than it says: bytes in WAV, AIFF and AU, the file of W64
#: as a whole, samples of each channel in RF64.
SHORTER = re.compile(r"^ *(?:data|SSND|Data Size|riff) *: (\d+) \(should be (\d+)\)", re.MULTILINE)
FEWER = re.compile(
    r"^\*\*\* Calculated frame count (\d+) does not match value from 'ds64' chunk of (\d+)", re.MULTILINE
)
#: And about one of Ogg that ends within a page. A writer that was stopped between two leaves out the last bit
#: alone, and all that it wrote is there.
TORN = ("Last page lacks an end-of-stream bit", "Junk after the last page")


class Heading(NamedTuple):
    """The heading of a file: samples a second, channels, and the number of samples of each."""

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


def heading(source: Source, name: str) -> Heading:
    """The heading of a file; nothing is decoded. Raises DataError for a file that is no sound."""
    with _sound(source, name) as sound:
        return _heading(sound, name)


def decode(source: Source, name: str, *, rate: int, seconds: float) -> Samples:
    """The samples (1, time) of a file, int16. Channels are averaged. Of a sound longer than ``seconds`` the
    middle is read, and nothing else is decoded or held.

    Raises DataError for a file that is no sound, is empty, is cut short, or holds numbers that are not
    finite.
    """
    import soxr

    with _sound(source, name) as sound:
        start = _heading(sound, name)
        most = round(seconds * start.rate)
        if UNKNOWN > start.samples > most:
            sound.seek((start.samples - most) // 2)
        samples = np.concatenate(list(_blocks(sound, min(most, start.samples), name)))
    _expect_finite(samples, name)
    return _as_item(samples if start.rate == rate else soxr.resample(samples, start.rate, rate))


def windows(source: Source, name: str, *, rate: int, seconds: float) -> Iterator[Samples]:
    """A whole file in windows (1, time) of so many ``seconds``, int16, one after the other: however long it
    is, little of it is held. A rest shorter than half a window belongs to the last one.

    Raises DataError as `decode` does.
    """
    import soxr

    size = round(seconds * rate)
    with _sound(source, name) as sound:
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


def _as_item(samples: "np.ndarray[Any, Any]") -> Samples:
    """Floats in [-1, 1] as 16-bit samples (1, time); louder ones are clipped."""
    rounded = np.round(np.ascontiguousarray(samples, dtype=np.float32) * np.float32(-PAD))
    return np.clip(rounded, -LARGEST, LARGEST).astype(np.int16)[None]


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
    _expect_whole(sound.extra_info, name)
    if not samples:
        raise DataError(f"{name} holds no sound, not a single sample; {EXPECTED}")
    return Heading(rate, channels, samples)


def _expect_whole(notes: str, name: str) -> None:
    """Raise DataError for a file of which libsndfile notes that its end is missing."""
    if shorter := SHORTER.search(notes):
        claimed, there, what = int(shorter[1]), int(shorter[2]), "bytes of sound"
    elif fewer := FEWER.search(notes):
        there, claimed, what = int(fewer[1]), int(fewer[2]), "samples"
    else:
        if all(note in notes for note in TORN):
            raise DataError(f"{name} is cut short: it ends in the middle of a page")
        return
    if 0 < claimed < UNKNOWN and there < claimed:
        raise DataError(f"{name} is cut short: {there:,} of {claimed:,} {what} are there")


@contextmanager
def _sound(source: Source, name: str) -> Iterator[Any]:
    """The open sound; what goes wrong within is a DataError."""
    try:
        import soundfile
        import soxr  # noqa: F401 (both are needed, and missed together)
    except (ImportError, OSError) as error:
        raise PackageError(
            f"reading sounds needs soundfile and soxr ({error}); "
            "install them by pip install 'samekind[speech]'"
        ) from error
    try:
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
            if not stream.read(1):
                raise DataError(f"{name} is an empty file; {EXPECTED}")
            stream.seek(0)
            # A path is opened by libsndfile itself: every read of a stream comes back to Python.
            with soundfile.SoundFile(str(source) if isinstance(source, Path) else stream) as sound:
                yield sound
    except FileNotFoundError:
        raise DataError(f"there is no file {name}; {EXPECTED}") from None
    except soundfile.LibsndfileError as error:
        why = str(error.error_string).strip().rstrip(".").removeprefix("Error : ")
        raise DataError(f"cannot read {name}: {why}; {EXPECTED}") from error
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise DataError(f"cannot read {name}: {error}; {EXPECTED}") from error
