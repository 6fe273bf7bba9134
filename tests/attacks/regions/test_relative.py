"""A ball in the size of the item: a ratio in decibels, by the plain definition."""

import math

import pytest
import torch

from samekind.attacks.regions import L2, Relative
from samekind.errors import SettingError


def test_every_item_has_the_ball_of_its_own_size():
    generator = torch.Generator().manual_seed(0)
    clean = torch.randn(6, 40, generator=generator, dtype=torch.float64) * torch.logspace(-2, 1, 6)[:, None]
    x = clean + torch.randn(6, 40, generator=generator, dtype=torch.float64)
    region = Relative.below(14.0)
    projected = region.project(x, clean)
    for one, other, item in zip(projected, x, clean, strict=True):
        radius = 10 ** (-14 / 20) * math.sqrt(sum(value**2 for value in item.tolist()))
        torch.testing.assert_close(one, L2(radius).project(other[None], item[None])[0])
    signal, noise = clean.square().sum(1), (projected - clean).square().sum(1)
    assert (10 * torch.log10(signal / noise) >= 14 - 1e-9).all()


def test_padding_does_not_count_and_silence_has_the_size_one():
    clean = torch.tensor([[3.0, 4.0, -1.0, -1.0], [0.0, 0.0, 0.0, -1.0]])
    assert Relative(0.1, padding=-1.0).sizes(clean).tolist() == [5.0, 1.0]


def test_a_size_below_0_is_refused():
    with pytest.raises(SettingError, match="from 0 up"):
        Relative(-1.0)
