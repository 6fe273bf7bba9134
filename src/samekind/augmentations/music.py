"""Music behind a sound."""

import math

import torch
from torch import Tensor

from samekind.augmentations.limits import expect_waveforms, expect_within
from samekind.augmentations.mixing import added, drawn_ratios, drawn_recordings, expect_ratios

#: Made music: notes a chord, overtones a note, how many semitones the notes span, and seconds a chord.
NOTES, OVERTONES, SPAN, BEAT = 3, 4, 36, 0.4
LOWEST = 110.0


class Music:
    """With ``probability``, music is added to a sound, at one of the ``ratios`` of signal to noise (dB).

    The music comes from the sounds in a ``folder``, from a random place on, again and again; without a folder
    it is made of chords. ``rate`` is filled in by a run.
    """

    def __init__(
        self,
        *,
        folder: str | None = None,
        ratios: tuple[float, ...] = (15.0, 10.0, 8.0, 5.0),
        probability: float = 0.5,
        rate: int = 16000,
    ) -> None:
        expect_ratios(ratios)
        expect_within("probability", probability, 0, 1)
        self.folder = folder
        self.ratios = ratios
        self.probability = probability
        self.rate = rate

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_waveforms(x)
        ratios = drawn_ratios(self.ratios, len(x), self.probability, generator=generator)
        if not len(x):
            return x
        if self.folder is None:
            return added(x, chords(x, self.rate, generator=generator), ratios)
        return added(x, drawn_recordings(self.folder, self.rate, x, generator=generator), ratios)


def chords(x: Tensor, rate: int, *, generator: torch.Generator) -> Tensor:
    """Chords in the shape of sounds (n, 1, samples), others for each."""
    beat = max(1, round(BEAT * rate))
    beats = -(-x.shape[-1] // beat)
    semitones = torch.randint(SPAN, (len(x), NOTES, beats), generator=generator)
    frequencies = (LOWEST * 2 ** (semitones / 12)).to(x.device, x.dtype)
    frequencies = frequencies.repeat_interleave(beat, dim=-1)[..., : x.shape[-1]]
    phases = 2 * math.pi / rate * frequencies.double().cumsum(-1)
    tones = sum((order * phases).sin() / order for order in range(1, OVERTONES + 1))
    fading = torch.exp(-3 * (torch.arange(x.shape[-1], device=x.device) % beat) / beat)
    return (torch.as_tensor(tones).sum(1, keepdim=True) * fading).to(x.dtype)
