"""A part of each sound, all equally long."""

import torch
from torch import Tensor

from samekind.acoustics import lengths_of
from samekind.augmentations.draws import uniform
from samekind.augmentations.limits import expect_sounds, expect_within

#: Frames of features a second.
FRAMES = 100


class RandomChunk:
    """A part of each sound, at a random place. A sound that is shorter is repeated as often as needed.

    All parts of a batch have one length, drawn between ``least`` x ``seconds`` and ``seconds``, but not
    longer than the longest sound of the batch. ``rate``, the samples a second, is filled in by a run;
    features have 100 frames a second.
    """

    def __init__(self, *, seconds: float = 4.0, least: float = 0.5, rate: int = 16000) -> None:
        expect_within("seconds", seconds, 0.05, 3600)
        expect_within("least", least, 0, 1)
        self.seconds = seconds
        self.least = least
        self.rate = rate

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_sounds(x)
        if not len(x):
            return x
        lengths = lengths_of(x).cpu()
        share = float(uniform(1, self.least, 1, generator=generator))
        starts = uniform(len(x), 0, 1, generator=generator)
        rate = self.rate if x.shape[1] == 1 else FRAMES
        count = min(max(1, round(share * self.seconds * rate)), int(lengths.max()))
        # A shorter sound may begin anywhere, because it goes round.
        room = torch.where(lengths > count, lengths - count + 1, lengths)
        begin = (starts * room).floor().long()
        places = (begin[:, None] + torch.arange(count)) % lengths[:, None].clamp(min=1)
        return x.gather(-1, places[:, None].expand(-1, x.shape[1], -1).to(x.device, non_blocking=True))
