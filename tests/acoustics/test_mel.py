"""Mel filters and the cosine transform."""

import torch

from samekind.acoustics.mel import cosine_transform, mel_filters


def test_neighbouring_filters_share_every_frequency_between_them():
    filters = mel_filters(bins=30, size=512, rate=16000, low=20, high=7600)
    assert filters.shape == (257, 30)
    assert (filters >= 0).all()
    first, last = filters.argmax(0)[0], filters.argmax(0)[-1]
    torch.testing.assert_close(filters[first + 1 : last].sum(1), torch.ones(int(last - first) - 1))


def test_the_transform_without_a_lifter_is_orthonormal():
    matrix = cosine_transform(bins=23, coefficients=23, lifter=0)
    torch.testing.assert_close(matrix.T @ matrix, torch.eye(23), atol=1e-6, rtol=0)
    lifted = cosine_transform(bins=23, coefficients=23, lifter=22)
    torch.testing.assert_close(lifted[:, 11], matrix[:, 11] * 12)
