"""Two matrices are the interpolation that networks are asked with."""

import pytest
import torch
import torch.nn.functional as F

from samekind.encoders.resizing import resized_by_matrices, resizing_matrix


@pytest.mark.parametrize(
    ("height", "width", "size"), [(8, 8, 8), (28, 20, 32), (33, 47, 16), (5, 100, 7), (2, 3, 1)]
)
def test_agrees_with_interpolate(height, width, size):
    x = torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(0))
    expected = F.interpolate(x, size=(size, size), mode="bilinear", antialias=True)
    torch.testing.assert_close(resized_by_matrices(x, size), expected, atol=1e-5, rtol=1e-5)


def test_every_new_pixel_is_a_mean():
    matrix = resizing_matrix(13, 5)
    assert (matrix >= 0).all()
    torch.testing.assert_close(matrix.sum(1), torch.ones(5))
