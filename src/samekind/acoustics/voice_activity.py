"""Which frames have a voice in them, by their energy, as Kaldi decides it."""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.acoustics.padding import inside

#: Of Kaldi's recipes for speakers: a frame counts as loud above THRESHOLD + SCALE x the mean of the sound,
#: and as voiced if PROPORTION of the CONTEXT frames to either side and itself are loud.
THRESHOLD, SCALE, PROPORTION, CONTEXT = 5.5, 0.5, 0.12, 2


def voiced(energy: Tensor, lengths: Tensor) -> Tensor:
    """Which frames are voiced, (n, frames), by the logarithm of their energy (n, frames) in 16-bit steps."""
    real = inside(lengths, energy.shape[1])
    mean = energy.masked_fill(~real, 0).sum(1) / lengths.clamp(min=1)
    loud = (energy > THRESHOLD + SCALE * mean[:, None]) & real
    counts = F.avg_pool1d(torch.stack([loud, real]).float(), 2 * CONTEXT + 1, stride=1, padding=CONTEXT)
    # Both are divided by the same number, so their ratio is that of the counts.
    return (counts[0] >= PROPORTION * counts[1] - 1e-6) & real


def only_voiced(values: Tensor, energy: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Features (n, coefficients, frames) of the voiced frames alone, moved together, and how many there are.

    A sound without a voiced frame keeps all of them.
    """
    chosen = voiced(energy, lengths)
    chosen = torch.where(chosen.any(1, keepdim=True), chosen, inside(lengths, energy.shape[1]))
    order = (~chosen).to(torch.uint8).argsort(dim=1, stable=True)
    counts = chosen.sum(1)
    order = order[:, : int(counts.max())]
    return values.gather(-1, order[:, None].expand(-1, values.shape[1], -1)), counts
