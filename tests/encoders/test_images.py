"""The check of image input."""

import pytest
import torch

from samekind.encoders.images import expect_images, expect_sizes
from samekind.errors import DataError, SettingError


def test_lets_images_of_the_right_shape_pass():
    expect_images(torch.zeros(2, 3, 8, 8), channels=3, size=8)
    expect_images(torch.zeros(2, 3, 8, 5), channels=3)
    expect_images(torch.zeros(0, 3, 8, 8), channels=3, size=8)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 1, 8, 8), (2, 3, 8, 5), (2, 3, 8, 8, 1), (2,)])
def test_says_what_was_expected_and_what_came(shape):
    with pytest.raises(DataError) as caught:
        expect_images(torch.zeros(shape), channels=3, size=8)
    assert "(n, 3, 8, 8)" in str(caught.value)
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 1, 8, 8), (2,)])
def test_says_that_any_size_is_allowed(shape):
    with pytest.raises(DataError, match=r"\(n, 3, height, width\)"):
        expect_images(torch.zeros(shape), channels=3)


def test_says_how_small_images_may_be():
    expect_images(torch.zeros(2, 3, 7, 9), channels=3, smallest=7)
    with pytest.raises(DataError, match=r"\(n, 3, height, width\) of 7 pixels or more; got \(2, 3, 9, 6\)"):
        expect_images(torch.zeros(2, 3, 9, 6), channels=3, smallest=7)
    with pytest.raises(DataError, match="got"):
        expect_images(torch.zeros(2, 3, 0, 4), channels=3)


def test_sizes_are_at_least_one_or_left_open():
    expect_sizes({"channels": 1, "dimension": None})
    with pytest.raises(SettingError, match="channels and dimension must be at least 1; got dimension 0"):
        expect_sizes({"channels": 1, "dimension": 0})
