"""Blurred images, against SciPy and against what a blur must do."""

import pytest
import torch
from scipy.ndimage import gaussian_filter

from samekind.augmentations import Blur
from samekind.augmentations.blur import blurred
from samekind.errors import SettingError


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_scipy_agrees_away_from_the_border(sigma, images):
    x = images(count=1, channels=1, height=40, width=36)
    ours = blurred(x.double(), torch.tensor([sigma], dtype=torch.float64))[0, 0]
    theirs = torch.from_numpy(gaussian_filter(x[0, 0].double().numpy(), sigma, truncate=6))
    inner = slice(12, -12)
    torch.testing.assert_close(ours[inner, inner], theirs[inner, inner], atol=1e-6, rtol=0)


def test_an_even_image_stays_even_up_to_its_border():
    x = torch.full((2, 3, 7, 9), 0.3)
    torch.testing.assert_close(blurred(x, torch.tensor([1.0, 5.0])), x)


def test_the_more_the_smoother(images):
    x = images(count=1).repeat(3, 1, 1, 1)
    spread = blurred(x, torch.tensor([0.05, 0.7, 2.0])).std((1, 2, 3))
    assert spread[0] > spread[1] > spread[2]
    torch.testing.assert_close(blurred(x, torch.full((3,), 0.05)), x, atol=1e-6, rtol=0)


def test_some_are_left_as_they_are(images, chances):
    x = images(count=300, height=4, width=4)
    changed = Blur(sigma=(1.0, 2.0), probability=0.4)(x, generator=chances())
    same = (changed == x).flatten(1).all(1)
    assert same.double().mean().item() == pytest.approx(0.6, abs=0.08)


@pytest.mark.parametrize("sigma", [(0.0, 1.0), (2.0, 1.0), (1.0,)])
def test_refuses_an_impossible_deviation(sigma):
    with pytest.raises(SettingError, match="sigma: expected two numbers above 0"):
        Blur(sigma=sigma)
