"""Files of sound as tensors: one channel, at the rate that is asked for, as 16-bit samples."""

import wave
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import torch
from torch import Tensor

from samekind.acoustics import as_samples
from samekind.data.files import Readable, name_of, opened
from samekind.decoding import waves
from samekind.decoding.waves import EXPECTED as EXPECTED
from samekind.decoding.waves import Heading as Heading
from samekind.errors import DataError


def heading(file: Readable) -> Heading:
    """The heading of a file; nothing is decoded. Raises DataError for a file that is no sound."""
    with _source(file) as source:
        return waves.heading(source, name_of(file))


def decode(file: Readable, *, rate: int, seconds: float) -> Tensor:
    """The samples (1, time) of a file, int16; see `samekind.decoding.waves.decode`."""
    with _source(file) as source:
        return torch.from_numpy(waves.decode(source, name_of(file), rate=rate, seconds=seconds))


def windows(file: Readable, *, rate: int, seconds: float) -> Iterator[Tensor]:
    """A whole file in windows (1, time), int16; see `samekind.decoding.waves.windows`."""
    with _source(file) as source:
        for window in waves.windows(source, name_of(file), rate=rate, seconds=seconds):
            yield torch.from_numpy(window)


def write_wave(path: Path, sound: Tensor, *, rate: int) -> None:
    """Write a sound (1, samples), floats in [-1, 1], as a 16-bit WAV file. Padding, NaN, is left out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        samples = as_samples(sound[0, ~sound[0].isnan()].detach().cpu())
        file.writeframes(samples.numpy().astype("<i2").tobytes())


def _source(file: Readable) -> AbstractContextManager[Path | BinaryIO]:
    """A path as it is, and anything else open."""
    if isinstance(file, Path):
        return nullcontext(file)
    try:
        return opened(file)
    except OSError as error:
        raise DataError(f"cannot read {name_of(file)}: {error}; {EXPECTED}") from error
