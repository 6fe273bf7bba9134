"""Other sounds of the batch behind a sound."""

import pytest
import torch

from samekind.augmentations import Babble, augment
from samekind.errors import SettingError


def test_it_is_made_of_others_and_never_of_the_sound_itself(chances):
    """Each sound is one tone; what is added to it holds 1 to 2 other tones, and not its own."""
    steps = torch.arange(1600)
    x = torch.stack([torch.sin(2 * torch.pi * number * steps / 160) for number in range(1, 9)])[:, None]
    babble = Babble(fewest=1, most=2, ratios=(0.0,), probability=1.0)(x, generator=chances()) - x
    power = torch.fft.rfft(babble[:, 0]).abs().square()[:, 10:81:10]
    tones = power > 0.01 * power.sum(1, keepdim=True)
    assert not tones.diag().any()
    assert set(tones.sum(1).tolist()) <= {1, 2}
    ratios = 10 * (x.square().sum((1, 2)) / babble.square().sum((1, 2))).log10()
    torch.testing.assert_close(ratios, torch.zeros(8), atol=0.01, rtol=0)


def test_with_labels_only_other_speakers_are_heard_and_each_once(chances):
    """Four speakers with two tones each: never one of the own two, and all six others where six speak."""
    steps, labels = torch.arange(1600), torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
    x = torch.stack([torch.sin(2 * torch.pi * number * steps / 160) for number in range(1, 9)])[:, None]
    mixed = Babble(fewest=6, most=6, ratios=(0.0,), probability=1.0)
    babble = augment(x, [mixed], generator=chances(), labels=labels) - x
    power = torch.fft.rfft(babble[:, 0]).abs().square()[:, 10:81:10]
    assert torch.equal(power > 0.01 * power.sum(1, keepdim=True), labels[:, None] != labels)
    # Seven are wanted and two speak another way: those two, as loud together as they should be.
    few = Babble(fewest=7, most=7, ratios=(0.0,), probability=1.0)(
        x[:4], generator=chances(), labels=labels[:4]
    )
    torch.testing.assert_close((few - x[:4]).square().mean((1, 2)), x[:4].square().mean((1, 2)))
    alone = mixed(x, generator=chances(), labels=torch.zeros(8))
    assert torch.equal(alone, x)


def test_one_sound_has_nobody_else(chances):
    x = torch.randn(1, 1, 100)
    assert torch.equal(Babble(probability=1.0)(x, generator=chances()), x)
    with pytest.raises(SettingError, match="fewest and most"):
        Babble(fewest=5, most=3)
