"""A sound backwards."""

import torch
from torch import Tensor

from samekind.acoustics import lengths_of
from samekind.augmentations.draws import chosen
from samekind.augmentations.limits import expect_sounds, expect_within


class TimeReversal:
    """With ``probability``, a sound is played backwards; waveforms or features. A voice stays the same."""

    def __init__(self, *, probability: float = 0.5) -> None:
        expect_within("probability", probability, 0, 1)
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_sounds(x)
        changes = chosen(len(x), self.probability, generator=generator).to(x.device)
        steps, lengths = torch.arange(x.shape[-1], device=x.device), lengths_of(x)[:, None]
        backwards = torch.where(steps < lengths, lengths - 1 - steps, steps)
        places = torch.where(changes[:, None], backwards, steps)
        return x.gather(-1, places[:, None].expand(-1, x.shape[1], -1))
