"""The original size of a picture, written into a plane and read from it."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from samekind.data.media.original_size import colours_of, log_sides, without_size
from samekind.decoding.size_plane import size_plane


def read(plane):
    """Width and height, in pixels, of a plane of bytes."""
    sides = log_sides(torch.as_tensor(plane)[None].float() / 255)[0]
    return [100 * math.exp(side) for side in sides.tolist()]


@given(st.integers(1, 65_535), st.integers(1, 65_535), st.integers(2, 9), st.integers(1, 9))
def test_a_side_is_read_within_half_a_step(height, width, rows, columns):
    plane = size_plane(height, width, rows=rows, columns=columns)
    assert plane.shape == (rows, columns)
    for side, read_side in zip((width, height), read(plane), strict=True):
        assert abs(math.log(read_side / side)) < math.log(65_535) / 255 / 2 + 1e-4


def test_sides_beyond_the_longest_are_as_long_as_it():
    assert (size_plane(10**6, 65_535, rows=2, columns=2) == 255).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.flip(-1),
        lambda x: F.interpolate(x, (31, 17)),
        lambda x: F.interpolate(x, (7, 5), mode="bilinear", antialias=True),
        lambda x: F.interpolate(x, (40, 50), mode="bilinear", antialias=True),
    ],
)
def test_the_size_is_the_same_after_mirroring_and_resizing(change):
    plane = torch.as_tensor(size_plane(30, 400, rows=16, columns=12)).float() / 255
    torch.testing.assert_close(log_sides(change(plane[None, None])[:, 0]), log_sides(plane[None]))


def test_colours_are_all_but_the_plane():
    x = torch.rand(2, 4, 5, 6)
    assert torch.equal(colours_of(x), x[:, :3])
    assert torch.equal(colours_of(x[0, :2]), x[0, :1])
    assert torch.equal(colours_of(x[:, :3]), x[:, :3])
    assert [without_size((channels, 5, 6))[0] for channels in (1, 2, 3, 4, 5)] == [1, 1, 3, 3, 5]
