"""Other speakers in the background of a sound."""

import torch
from torch import Tensor

from samekind.augmentations.limits import expect_waveforms, expect_within
from samekind.augmentations.mixing import added, around, drawn_ratios, expect_ratios
from samekind.errors import SettingError


class Babble:
    """With ``probability``, ``fewest`` to ``most`` other sounds of the batch are added to a sound, together
    at one of the ``ratios`` of signal to noise (dB).

    A sound with labels (n,) gets those of other classes, other speakers. Where the batch has fewer of them,
    all of them speak; where it has none, the sound does not change.
    """

    among_classes = True

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

    def __call__(self, x: Tensor, *, generator: torch.Generator, labels: Tensor | None = None) -> Tensor:
        expect_waveforms(x)
        count = len(x)
        ratios = drawn_ratios(self.ratios, count, self.probability, generator=generator)
        speaking = torch.randint(self.fewest, self.most + 1, (count,), generator=generator)
        starts = torch.rand(count, self.most, generator=generator)
        # The others in an order of chance, those who must not speak at its end.
        order = torch.rand(count, count, generator=generator)
        order = order.masked_fill(_same(count, labels), 2.0)
        chances, others = order.sort(dim=1)
        babble = torch.zeros_like(x)
        for voice in range(min(self.most, count)):
            one = around(x[others[:, voice].to(x.device)], starts[:, voice], x.shape[-1])
            loudness = one.square().mean((1, 2), keepdim=True).sqrt().clamp(min=1e-10)
            speaks = (speaking > voice) & (chances[:, voice] < 1)
            babble = babble + speaks.to(x.device)[:, None, None] * one / loudness
        return added(x, babble, ratios)


def _same(count: int, labels: Tensor | None) -> Tensor:
    """Which of a batch are of one class, (n, n); without labels each is of its own."""
    labels = torch.arange(count) if labels is None else labels.cpu()
    return labels[:, None] == labels
