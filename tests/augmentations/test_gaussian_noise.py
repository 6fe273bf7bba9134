"""Noise on vectors, in units of each feature's spread."""

import pytest
import torch

from samekind.augmentations import GaussianNoise
from samekind.errors import DataError


def test_the_noise_has_the_deviation_asked_for(chances):
    noise = GaussianNoise(deviation=0.5)(torch.zeros(4000, 3), generator=chances())
    torch.testing.assert_close(noise.std(0), torch.full((3,), 0.5), atol=0.03, rtol=0)
    torch.testing.assert_close(noise.mean(0), torch.zeros(3), atol=0.03, rtol=0)


def test_it_is_measured_in_the_spreads_of_the_features(chances):
    shaken = GaussianNoise(deviation=0.1, spreads=[1.0, 100.0])
    noise = shaken(torch.zeros(4000, 2), generator=chances())
    torch.testing.assert_close(noise.std(0), torch.tensor([0.1, 10.0]), atol=0, rtol=0.05)


def test_some_vectors_are_left_as_they_are(chances):
    x = torch.ones(1000, 2)
    shaken = GaussianNoise(probability=0.25)(x, generator=chances())
    assert (shaken != x).all(1).double().mean().item() == pytest.approx(0.25, abs=0.05)
    assert ((shaken != x).any(1) == (shaken != x).all(1)).all()


def test_as_many_spreads_as_features(chances):
    with pytest.raises(DataError, match=r"vectors of 3 features, got \(2, 4\)"):
        GaussianNoise(spreads=[1.0, 1.0, 1.0])(torch.zeros(2, 4), generator=chances())
