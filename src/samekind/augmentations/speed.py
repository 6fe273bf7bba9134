"""A sound played faster or slower."""

import math
from fractions import Fraction

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.acoustics import lengths_of
from samekind.acoustics.padding import inside
from samekind.augmentations.limits import expect_waveforms
from samekind.errors import SettingError

#: Zero crossings of the interpolating function to either side, and the share of the band that is kept.
CROSSINGS, KEPT = 12, 0.95


class Speed:
    """Each sound is played at one of the speeds ``factors``: at 1.1 it is shorter and higher. What no longer
    fits into the batch is cut off at the end.
    """

    def __init__(self, *, factors: tuple[float, ...] = (0.9, 1.0, 1.1)) -> None:
        if not factors or not all(0.25 <= factor <= 4 for factor in factors):
            raise SettingError(f"factors: expected one or more speeds from 0.25 to 4, got {list(factors)}")
        self.factors = factors

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_waveforms(x)
        which = torch.randint(len(self.factors), (len(x),), generator=generator)
        x = x.clone()
        for place, factor in enumerate(self.factors):
            rows = (which == place).nonzero().flatten().to(x.device)
            if len(rows) and factor != 1:
                x[rows] = at_speed(x[rows], factor)
        return x


def at_speed(x: Tensor, factor: float) -> Tensor:
    """Sounds (n, 1, samples) played at a speed, padded or cut to as many samples."""
    ratio = Fraction(factor).limit_denominator(100)
    lengths = (lengths_of(x) * ratio.denominator // ratio.numerator).clamp(min=1)
    y = resampled(x[:, 0].nan_to_num(0.0), ratio.numerator, ratio.denominator)
    count = x.shape[-1]
    y = F.pad(y, (0, max(0, count - y.shape[1])))[:, :count]
    return y.masked_fill(~inside(lengths, count), torch.nan)[:, None]


def resampled(x: Tensor, down: int, up: int) -> Tensor:
    """Waveforms (n, samples) with ``up`` samples in place of every ``down``, interpolated by a windowed sinc.

    A tone above what the new rate can hold is filtered out.
    """
    cutoff = KEPT * min(1.0, up / down)
    reach = math.ceil(CROSSINGS / cutoff)
    # The new sample p of a block lies at p x down / up of the old ones.
    positions = torch.arange(up, dtype=torch.float64)[:, None] * down / up
    distance = positions - torch.arange(-reach, down + reach, dtype=torch.float64)
    window = torch.cos(math.pi / 2 * (distance * cutoff / CROSSINGS).clamp(-1, 1)).square()
    taps = (cutoff * torch.sinc(distance * cutoff) * window).to(x.device, x.dtype)
    blocks = -(-x.shape[1] // down)
    padded = F.pad(x, (reach, blocks * down - x.shape[1] + reach))
    return F.conv1d(padded[:, None], taps[:, None], stride=down).transpose(1, 2).flatten(1)
