"""The check of image input."""

import pytest
import torch

from samekind.encoders.images import expect_images
from samekind.errors import DataError


def test_lets_images_of_the_right_shape_pass():
    expect_images(torch.zeros(2, 3, 8, 8), channels=3, size=8)
    expect_images(torch.zeros(2, 3, 8, 5), channels=3)
    expect_images(torch.zeros(0, 3, 8, 8), channels=3, size=8)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 1, 8, 8), (2, 3, 8, 5), (2, 3, 8, 8, 1), (2,)])
def test_says_what_it_takes_and_what_came(shape):
    with pytest.raises(DataError) as caught:
        expect_images(torch.zeros(shape), channels=3, size=8)
    assert "(n, 3, 8, 8)" in str(caught.value)
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 1, 8, 8), (2,)])
def test_says_that_any_size_will_do(shape):
    with pytest.raises(DataError, match=r"\(n, 3, height, width\)"):
        expect_images(torch.zeros(shape), channels=3)
