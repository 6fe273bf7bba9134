"""Other speakers in the background of a sound."""

import torch
from torch import Tensor

from samekind.augmentations.limits import expect_waveforms, expect_within
from samekind.augmentations.mixing import added, around, drawn_ratios, expect_ratios
from samekind.errors import SettingError


class Babble:
    """With ``probability``, ``fewest`` to ``most`` other sounds of the batch are added to a sound, together
    at one of the ``ratios`` of signal to noise (dB). A batch of one item does not change.
    """

    def __init__(
        self,
        *,
        ratios: tuple[float, ...] = (20.0, 17.0, 15.0, 13.0),
        fewest: int = 3,
        most: int = 7,
        probability: float = 0.5,
    ) -> None:
        expect_ratios(ratios)
        expect_within("probability", probability, 0, 1)
        if not 1 <= fewest <= most:
            raise SettingError(
                f"fewest and most: expected 1 or more, the smaller first, got {fewest}, {most}"
            )
        self.ratios = ratios
        self.fewest = fewest
        self.most = most
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_waveforms(x)
        count = len(x)
        ratios = drawn_ratios(self.ratios, count, self.probability, generator=generator)
        # Steps to others in the batch: never 0, which is the sound itself.
        steps = 1 + torch.randint(max(1, count - 1), (count, self.most), generator=generator)
        speaking = torch.randint(self.fewest, self.most + 1, (count, 1), generator=generator)
        starts = torch.rand(count, self.most, generator=generator)
        if count < 2:
            return x
        others = (torch.arange(count)[:, None] + steps) % count
        babble = torch.zeros_like(x)
        for voice in range(self.most):
            one = around(x[others[:, voice].to(x.device)], starts[:, voice], x.shape[-1])
            loudness = one.square().mean((1, 2), keepdim=True).sqrt().clamp(min=1e-10)
            speaks = (speaking[:, 0] > voice).to(x.device)[:, None, None]
            babble = babble + speaks * one / loudness
        return added(x, babble, ratios)
