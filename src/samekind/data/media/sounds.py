"""Sounds of unequal length: files of speech, or of any other sound.

An item is a waveform (1, samples), not its features: every network brings the front end that it was trained
with, noise and rooms are added to waveforms, and a file read at use needs no more than its samples. Samples
are kept as 16-bit numbers, as files have them. A batch is padded to the longest of its sounds; see
`samekind.acoustics`. Items may be features already, (coefficients, frames), where those were computed before:
networks take both.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from samekind.acoustics import (
    PAD,
    Features,
    as_floats,
    as_samples,
    lengths_of,
    padded,
    usual_coefficients,
    voiced,
)
from samekind.data.files import Readable, is_array, name_of
from samekind.data.media import waves
from samekind.data.media.attacked import SHARES, Attacked, Range
from samekind.data.media.medium import Medium, Problem, Shape, Suited, Window, named_problem, scaled
from samekind.data.words import named
from samekind.decoding.waves import LARGEST
from samekind.errors import DataError, SettingError

if TYPE_CHECKING:
    from samekind.data.items import Items

ENDINGS = frozenset({".aif", ".aiff", ".au", ".caf", ".flac", ".mp3", ".oga", ".ogg", ".opus", ".rf64"})
ENDINGS |= {".sph", ".w64", ".wav"}

RATES = (8000, 16000)

#: The longest part of a sound that is read, from its middle, so that a long recording does not fill the
#: memory.
LONGEST = 30.0

#: Sounds that are examined together, and the limits of the warnings: seconds, the share of samples at the
#: limit, and the mean of the samples.
AT_ONCE, SHORT, CLIPPED, OFFSET = 64, 0.1, 0.001, 0.1

#: Height and width of a thumbnail: mel bands and steps of time.
BANDS, STEPS = 40, 64
LEGEND = "Spectrograms: time goes to the right, low tones are below, and each has its own brightness."

#: The values of a sample, those that 16 bits can hold; the one below them marks padding. How far attacks
#: change them.
RANGE = Range(
    -LARGEST / -PAD, LARGEST / -PAD, "in the range of a sample, -1 to 1", padding=-1.0, decibels=True
)
EPSILONS = {
    "linf": (0.0001, 0.0003, 0.001, 0.003, 0.01),
    "l2": (0.01, 0.03, 0.1, 0.3, 1.0),
    "l1": (1.0, 3.0, 10.0, 30.0, 100.0),
    "snr": SHARES,
}

#: Seconds of a random sound, at most.
LONGEST_NOISE = 3.0


class SoundReader:
    """Files of sound as (1, samples), at ``rate`` samples a second, 8000 or 16000.

    Any file that libsndfile reads, at any rate and with any channels, whose mean is taken. Of a sound longer
    than ``seconds`` the middle is read. `samples` gives int16, `read` float32 in [-1, 1].
    """

    columns: tuple[str, ...] = ()
    dtype = torch.int16

    def __init__(self, *, rate: int = 16000, seconds: float = LONGEST) -> None:
        if rate not in RATES:
            raise SettingError(f"sounds are read at 8000 or 16000 samples a second; got {rate}")
        if not 0.1 <= seconds <= 3600:
            raise SettingError(f"seconds: expected 0.1 to 3600 of a sound, got {seconds:g}")
        self.rate = rate
        self.seconds = seconds

    @property
    def shape(self) -> tuple[int, ...]:
        """The largest shape of what is read."""
        return 1, round(self.rate * self.seconds)

    @property
    def medium(self) -> Medium:
        return SOUNDS

    def read(self, file: Readable) -> Tensor:
        """The sound in the file as float32 (1, samples)."""
        return as_floats(self.samples(file))

    def samples(self, file: Readable) -> Tensor:
        """The sound in the file as int16 (1, samples)."""
        if is_array(file):
            raise DataError(f"cannot read {name_of(file)}: this space reads sounds; {waves.EXPECTED}")
        return waves.decode(file, rate=self.rate, seconds=self.seconds)


def is_sound(shape: Shape) -> bool:
    """Whether items of this shape can be waveforms: (1, samples)."""
    return len(shape) == 2 and shape[0] == 1


def spectrograms(x: Tensor, *, rate: int = 16000) -> Tensor:
    """Waveforms (n, 1, samples) as pictures (n, 1, height, width) in [0, 1]: low tones below, time to the
    right, loud parts bright. Also one waveform (1, samples) as (1, height, width).
    """
    if x.dim() == 2:
        return spectrograms(x[None], rate=rate)[0]
    x = as_floats(x) if x.dtype == torch.int16 else x
    lengths = lengths_of(x).clamp(min=1)
    sounds = Features(rate=rate, representation="log-mel", coefficients=BANDS)(x[:, 0].cpu(), lengths.cpu())
    pictures = torch.zeros(len(x), 1, BANDS, STEPS)
    for picture, values, length in zip(pictures, sounds.values, sounds.lengths.tolist(), strict=True):
        values = torch.nn.functional.adaptive_avg_pool1d(values[:, :length], STEPS).flip(0)
        low, high = values.quantile(0.05), values.max()
        picture[0] = ((values - low) / (high - low).clamp(min=1e-6)).clamp(0, 1)
    return pictures


def _windows(reader: SoundReader, file: Readable, seconds: float) -> Iterator[Window]:
    """The windows of a file."""
    start = 0
    for item in waves.windows(file, rate=reader.rate, seconds=seconds):
        end = start + item.shape[-1]
        yield Window(item, start / reader.rate, end / reader.rate, not _unheard(item[None], reader)[0])
        start = end


def _unheard(x: Tensor, reader: SoundReader) -> Tensor:
    """Which sounds (n, 1, samples) have no voiced frame, or are too short to know anybody by: (n,)."""
    if not is_sound(x.shape[1:]):
        return torch.zeros(len(x), dtype=torch.bool)
    x = scaled(x.cpu())
    lengths = lengths_of(x)
    frames = Features(rate=reader.rate)(x[:, 0], lengths)
    return ~voiced(frames.energy, frames.lengths).any(1) | (lengths < SHORT * reader.rate)


def _problems(items: "Items") -> Iterator[Problem]:
    """Warnings about sounds that are silent, very short, clipped, or not centred at zero."""
    rate = _rate(items.reader)
    silent: list[str] = []
    short: list[str] = []
    clipped: list[str] = []
    offset: list[str] = []
    for start in range(0, len(items) if is_sound(items.shape) else 0, AT_ONCE):
        x = items.inputs[start : start + AT_ONCE]
        x = as_floats(x.cpu()) if x.dtype == torch.int16 else x.cpu().float()
        lengths = lengths_of(x).clamp(min=1)
        x = x[:, 0].nan_to_num(0.0)
        limit = 32766 / 32768
        facts = (
            (silent, x.abs().amax(1) == 0),
            (short, lengths < SHORT * rate),
            (clipped, (x.abs() >= limit).sum(1) > CLIPPED * lengths),
            (offset, (x.sum(1) / lengths).abs() > OFFSET),
        )
        for names, which in facts:
            names += [named(items, start + place) for place in which.nonzero().flatten().tolist()]
    yield from named_problem(silent, "sound is", "sounds are", "silent")
    yield from named_problem(short, "sound is", "sounds are", f"shorter than {SHORT:g} seconds")
    yield from named_problem(clipped, "sound is", "sounds are", "clipped, too loud for the file")
    yield from named_problem(offset, "sound has", "sounds have", "a constant added (DC offset)")


def _rate(reader: Any) -> int:
    """The rate of a reader of sounds; the usual one without a reader."""
    return int(getattr(reader, "rate", RATES[-1]))


def _facts(shape: Shape, reader: Any) -> dict[str, Any]:
    rate = _rate(reader)
    return {"rate": rate, "coefficients": usual_coefficients(rate) if is_sound(shape) else shape[0]}


def _noise(shape: Shape, count: int, generator: torch.Generator) -> Tensor:
    """Noise of unequal length that is loud, quiet and loud again, so that some of its frames have a voice."""
    longest = min(shape[-1], round(LONGEST_NOISE * RATES[-1]))
    sounds = []
    for length in torch.randint(longest // 4, longest + 1, (count,), generator=generator).tolist():
        loudness = 0.05 + 0.45 * torch.linspace(0, 9, length).sin().abs()
        noise = (0.3 * loudness * torch.randn(length, generator=generator)).clamp(-1, 1)
        sounds.append(as_samples(noise[None]))
    return padded(sounds)


SOUNDS = Medium(
    name="sounds",
    endings=ENDINGS,
    arrays=False,  # samples alone do not say their rate
    settings=("rate", "seconds", "skip_unreadable"),
    reader=lambda shape: SoundReader(seconds=max(LONGEST, shape[-1] / RATES[-1])),
    encoder=lambda _: Suited("FrontEnd", {"encoder": {"name": "XVector"}}),
    augmentations=lambda _: (Suited("RandomChunk", {}),),
    family=lambda _: "sounds",
    units=lambda _: None,
    standardise=False,
    padded=True,
    problems=_problems,
    shows=is_sound,
    decoder=lambda reader, _: reader,
    facts=_facts,
    plain=lambda _: Suited("FrontEnd", {"encoder": {"name": "FrameStatistics"}, "normalise": 0}),
    raw_input="mean and deviation of the features",
    extent=lambda shape: f"up to {shape[-1]:,} {'samples' if is_sound(shape) else 'frames'}",
    thumbnails=spectrograms,
    legend=LEGEND,
    windows=_windows,
    unheard=_unheard,
    attacked=lambda shape: Attacked(RANGE, EPSILONS) if is_sound(shape) else None,  # features have no limits
    noise=_noise,
    ending=".wav",
    write=lambda path, item, reader: waves.write_wave(path, item, rate=_rate(reader)),
)
