"""The sound of a room."""

import math

import torch
from torch import Tensor

from samekind.acoustics import lengths_of, marked
from samekind.augmentations.draws import chosen, uniform
from samekind.augmentations.limits import expect_waveforms, expect_within
from samekind.augmentations.mixing import recordings
from samekind.data import scaled
from samekind.errors import SettingError

#: How much stronger the direct sound is than its echo, in decibels; when the echo begins, in seconds.
DIRECT, FIRST = (0.0, 10.0), (0.002, 0.02)


class Reverberation:
    """With ``probability``, a sound is heard as in a room, as loud as before.

    The room is an impulse response from a ``folder`` of sounds, from its peak on. Without a folder one is
    made: noise that dies away by 60 dB within a time between ``shortest`` and ``longest`` seconds. ``rate``
    is filled in by a run.
    """

    def __init__(
        self,
        *,
        folder: str | None = None,
        shortest: float = 0.25,
        longest: float = 0.75,
        probability: float = 0.5,
        rate: int = 16000,
    ) -> None:
        expect_within("probability", probability, 0, 1)
        if not 0.01 <= shortest <= longest <= 10:
            raise SettingError(
                "shortest and longest: expected 0.01 to 10 seconds, the smaller first, "
                f"got {shortest:g} and {longest:g}"
            )
        self.folder = folder
        self.shortest = shortest
        self.longest = longest
        self.probability = probability
        self.rate = rate

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_waveforms(x)
        changes = chosen(len(x), self.probability, generator=generator)
        if not changes.any():
            return x
        x, places = x.clone(), changes.nonzero().flatten().to(x.device)
        rooms = self.rooms(len(places), generator=generator).to(x.device, x.dtype)
        x[places] = reverberated(x[places], rooms)
        return x

    def rooms(self, count: int, *, generator: torch.Generator) -> Tensor:
        """Impulse responses (count, samples), the direct sound first."""
        if self.folder is None:
            return made_rooms(count, self.shortest, self.longest, self.rate, generator=generator)
        stored = recordings(self.folder, self.rate)
        responses = scaled(stored[torch.randint(len(stored), (count,), generator=generator)])[:, 0]
        responses = responses.nan_to_num(0.0)
        peaks = responses.abs().argmax(1, keepdim=True)
        places = peaks + torch.arange(responses.shape[1])
        beyond = places >= responses.shape[1]
        return responses.gather(1, places.clamp(max=responses.shape[1] - 1)).masked_fill(beyond, 0.0)


def made_rooms(
    count: int, shortest: float, longest: float, rate: int, *, generator: torch.Generator
) -> Tensor:
    """Impulse responses (count, samples) of rooms with these reverberation times in seconds (RT60)."""
    times = uniform(count, shortest, longest, generator=generator)[:, None]
    direct = uniform(count, *DIRECT, generator=generator)[:, None]
    first = uniform(count, *FIRST, generator=generator)[:, None]
    seconds = torch.arange(round(longest * rate), dtype=torch.float64) / rate
    # Amplitudes fall by a factor of 1000, 60 dB, within the time.
    echo = torch.randn(count, len(seconds), dtype=torch.float64, generator=generator)
    echo = echo * torch.exp(-math.log(1000) * seconds / times) * (seconds >= first)
    energy = echo.square().sum(1, keepdim=True).clamp(min=1e-20)
    rooms = echo * (10 ** (-direct / 10) / energy).sqrt()
    rooms[:, 0] = 1
    return rooms


def reverberated(x: Tensor, rooms: Tensor) -> Tensor:
    """Sounds (n, 1, samples) through impulse responses (n, taps), as long and as loud as before."""
    lengths = lengths_of(x)
    dry = x[:, 0].nan_to_num(0.0)
    size = dry.shape[1] + rooms.shape[1]
    wet = torch.fft.irfft(torch.fft.rfft(dry, n=size) * torch.fft.rfft(rooms, n=size), n=size)
    wet = marked(wet[:, None, : dry.shape[1]], lengths)
    wet = torch.nn.functional.pad(wet, (0, x.shape[-1] - wet.shape[-1]), value=torch.nan)
    powers = [sound.nan_to_num(0.0).square().sum((1, 2), keepdim=True) for sound in (x, wet)]
    return wet * (powers[0] / powers[1].clamp(min=1e-20)).sqrt()
