"""Sounds of unequal length in one tensor."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from samekind.decoding.waves import LARGEST
from samekind.decoding.waves import PAD as PAD
from samekind.tracing import exporting


def as_samples(x: Tensor) -> Tensor:
    """Floats in [-1, 1] (…) as 16-bit samples; louder ones are clipped, and NaN becomes padding.

    >>> as_samples(torch.tensor([0.5, -2.0, torch.nan])).tolist()
    [16384, -32767, -32768]
    """
    samples = (x * -PAD).round().clamp(-LARGEST, LARGEST)
    return samples.nan_to_num(PAD).to(torch.int16)


def as_floats(x: Tensor) -> Tensor:
    """16-bit samples (…) as float32 in [-1, 1], with NaN as padding.

    >>> as_floats(torch.tensor([16384, -32768], dtype=torch.int16)).tolist()
    [0.5, nan]
    """
    return x.float().div_(-PAD).masked_fill_(x == PAD, torch.nan)


def padded(sounds: Sequence[Tensor]) -> Tensor:
    """Sounds (channels, time), of unequal length, as one tensor (n, channels, longest): samples or floats."""
    longest = max(sound.shape[-1] for sound in sounds)
    filling = torch.nan if sounds[0].is_floating_point() else PAD
    batch = sounds[0].new_full((len(sounds), sounds[0].shape[0], longest), filling)
    for row, sound in zip(batch, sounds, strict=True):
        row[:, : sound.shape[-1]] = sound
    return batch


def unpadded(x: Tensor) -> list[Tensor]:
    """The sounds (channels, time) of a batch (n, channels, longest), each as long as it is."""
    return [sound[:, :length] for sound, length in zip(x, lengths_of(x).tolist(), strict=True)]


def lengths_of(x: Tensor) -> Tensor:
    """How many steps of each sound (n, channels, time) are not padding: (n,) int64."""
    real = ~x[:, 0].isnan() if x.is_floating_point() else x[:, 0] != PAD
    return real.sum(-1)


def inside(lengths: Tensor, steps: int) -> Tensor:
    """Which of so many steps are inside sounds of these lengths (n,): (n, steps)."""
    return torch.arange(steps, device=lengths.device) < lengths[:, None]


def marked(x: Tensor, lengths: Tensor) -> Tensor:
    """Sounds (n, channels, time) with everything behind their lengths (n,) marked as padding. What is padding
    in all of them is cut off.
    """
    if exporting():
        return x.masked_fill(~inside(lengths, x.shape[-1])[:, None], torch.nan)
    longest = int(lengths.max()) if len(lengths) else 0
    x = x[..., :longest]
    return x.masked_fill(~inside(lengths, longest)[:, None], torch.nan)


def repeated(x: Tensor, lengths: Tensor, least: int) -> tuple[Tensor, Tensor]:
    """Sounds (n, channels, time) and lengths (n,); those shorter than ``least`` steps are repeated from their
    start until they have as many.
    """
    longest: Callable[[int, int], int] = torch.sym_max if exporting() else max
    steps = longest(least, x.shape[-1])
    if not exporting() and (not len(x) or int(lengths.min()) >= least):
        return x, lengths
    places = torch.arange(steps, device=x.device) % lengths[:, None].clamp(min=1)
    long = lengths[:, None] >= least
    places = torch.where(long, torch.arange(steps, device=x.device).clamp(max=x.shape[-1] - 1), places)
    x = x.gather(-1, places[:, None].expand(-1, x.shape[1], -1))
    return x, lengths.clamp(min=least)


def mirrored(x: Tensor, lengths: Tensor, reach: int) -> Tensor:
    """Sounds (n, channels, time) that go on for ``reach`` steps before their start and behind their end (n,)
    lengths, backwards from there, the first and the last step not repeated: (n, channels, time + 2 reach).

    >>> mirrored(torch.tensor([[[1.0, 2, 3, 0]]]), torch.tensor([3]), 2).tolist()
    [[[3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 2.0]]]
    """
    places = torch.arange(-reach, x.shape[-1] + reach, device=x.device).expand(len(x), -1)
    last = (lengths[:, None] - 1).clamp(min=0)
    # There and back is a walk of twice the last place; of a sound with one step, that step again and again.
    places = torch.remainder(places, (2 * last).clamp(min=1))
    places = torch.minimum(torch.where(places <= last, places, 2 * last - places), last)
    return x.gather(-1, places[:, None].expand(-1, x.shape[1], -1))
