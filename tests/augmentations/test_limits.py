"""Settings and inputs that cannot be meant are refused with a sentence."""

import math

import pytest
import torch

from samekind.augmentations.limits import expect_images, expect_interval, expect_vectors, expect_within
from samekind.errors import DataError, SettingError


def test_accepts_valid_settings():
    expect_images(torch.rand(0, 7, 1, 1))
    expect_vectors(torch.rand(2, 0))
    expect_within("x", 0, 0, 1)
    expect_within("x", 1, 0, 1)
    expect_within("x", 1e9, 0, math.inf)
    expect_interval("x", (0.5, 0.5))


@pytest.mark.parametrize("value", [-1, 1.5, math.nan, math.inf])
def test_a_number_outside_is_refused(value):
    with pytest.raises(SettingError, match=rf"^size: expected a number from 0 to 1, got {value}"):
        expect_within("size", value, 0, 1)


def test_without_an_end_it_says_from_where():
    for value in (-1, math.inf):
        with pytest.raises(SettingError, match="from 0 up, got"):
            expect_within("size", value, 0, math.inf)


@pytest.mark.parametrize(
    "values", [(), (1.0,), (1.0, 2.0, 3.0), (2.0, 1.0), (0.0, 1.0), (1.0, math.inf), (math.nan, 1.0)]
)
def test_an_interval_is_two_numbers_in_order(values):
    with pytest.raises(SettingError, match="scale: expected two numbers above 0, the smaller first"):
        expect_interval("scale", values)


def test_the_shape_that_came_is_named():
    with pytest.raises(DataError, match=r"in \[0, 1\]; got \(2, 3\) of torch.float32"):
        expect_images(torch.rand(2, 3))
    with pytest.raises(DataError, match=r"\(n, d\); got \(2,\)"):
        expect_vectors(torch.rand(2))
