"""Sounds backwards."""

import torch

from samekind.acoustics import padded
from samekind.augmentations import TimeReversal


def test_real_samples_are_reversed_and_padding_stays_behind(chances):
    x = padded([torch.arange(5.0)[None], torch.arange(3.0)[None]])
    y = TimeReversal(probability=1.0)(x, generator=chances())
    assert y[0, 0].tolist() == [4, 3, 2, 1, 0]
    assert y[1, 0, :3].tolist() == [2, 1, 0]
    assert y[1, 0, 3:].isnan().all()
    torch.testing.assert_close(TimeReversal(probability=1.0)(y, generator=chances()), x, equal_nan=True)


def test_features_keep_their_rows(chances):
    x = torch.randn(40, 3, 7)
    y = TimeReversal()(x, generator=chances())
    turned = (y == x.flip(-1)).flatten(1).all(1)
    same = (y == x).flatten(1).all(1)
    assert (turned ^ same).all()
    assert 8 < turned.sum() < 32
