"""Height and width as bytes."""

import pytest

from samekind.decoding.size_plane import size_plane


@pytest.mark.parametrize(("side", "byte"), [(0, 0), (1, 0), (256, 128), (65_535, 255), (10**6, 255)])
def test_sides_are_equal_steps_of_the_logarithm(side, byte):
    plane = size_plane(side, 1, rows=4, columns=3)
    assert plane.shape == (4, 3)
    assert (plane[:2] == byte).all()
    assert (plane[2:] == 0).all()
