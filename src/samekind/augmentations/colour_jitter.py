"""Colours as under another camera or light.

The augmentation of few-shot learning (Chen et al., "A Closer Look at Few-shot Classification", ICLR 2019),
whose brightness, contrast and colour of 0.4 are the defaults.
"""

import torch
from torch import Tensor

from samekind.augmentations.colours import Change, hue_shifted, recoloured
from samekind.augmentations.draws import uniform
from samekind.augmentations.limits import expect_images, expect_within


class ColourJitter:
    """Each image's brightness, contrast and saturation times factors uniform in [1 - b, 1 + b] (not below 0)
    for the setting b of that name, and its hue moved by up to ``hue`` of the colour circle either way.

    The order of the four is drawn once a batch. Values are clipped to [0, 1] before a change of hue and at
    the end. An image of one channel has neither saturation nor hue.
    """

    def __init__(
        self, *, brightness: float = 0.4, contrast: float = 0.4, saturation: float = 0.4, hue: float = 0.0
    ) -> None:
        for name, value in (("brightness", brightness), ("contrast", contrast), ("saturation", saturation)):
            expect_within(name, value, 0, float("inf"))
        expect_within("hue", hue, 0, 0.5)
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        coloured = x.shape[1] == 3
        reaches = {
            "brightness": self.brightness,
            "contrast": self.contrast,
            "saturation": self.saturation * coloured,
            "hue": self.hue * coloured,
        }
        names = [list(reaches)[place] for place in torch.randperm(len(reaches), generator=generator).tolist()]
        linear: list[Change] = []
        for name in names:
            reach = reaches[name]
            if reach and name == "hue":
                x, linear = _recoloured(x, linear), []
                x = hue_shifted(x, uniform(len(x), -reach, reach, generator=generator))
            elif reach:
                factors = uniform(len(x), max(0.0, 1 - reach), 1 + reach, generator=generator)
                linear.append((name, factors))
        return _recoloured(x, linear)


def _recoloured(x: Tensor, changes: list[Change]) -> Tensor:
    return recoloured(x, changes) if changes else x
