"""Pixels moved by matrices: against rolls, rotations and mirror images that need none."""

import pytest
import torch
import torch.nn.functional as F

from samekind.augmentations.perspective import projection
from samekind.augmentations.warping import enlarged, shifted, slanted, turned, warp


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


def close(one, other):
    torch.testing.assert_close(one, other, atol=1e-4, rtol=0)


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_quarter_turns_go_against_the_clock(quarters, images):
    x = images(count=1, height=9, width=9)
    close(warp(x, turned(numbers(90 * quarters))), torch.rot90(x, quarters, dims=(-2, -1)))


def test_any_turn_is_that_of_a_loop(images):
    """Bilinear sampling, pixel by pixel: the place each pixel of the result comes from."""
    x = images(count=1, channels=1, height=7, width=8)[0, 0]
    angle = torch.deg2rad(torch.tensor(25.0, dtype=torch.float64))
    expected = torch.zeros_like(x)
    for row in range(7):
        for column in range(8):
            right, down = column + 0.5 - 4, row + 0.5 - 3.5
            u = float(right * angle.cos() - down * angle.sin() + 4)
            v = float(right * angle.sin() + down * angle.cos() + 3.5)
            if 0 <= u <= 8 and 0 <= v <= 7:
                u, v = min(max(u - 0.5, 0), 7), min(max(v - 0.5, 0), 6)
                left, top = min(int(u), 6), min(int(v), 5)
                a, b = u - left, v - top
                square = x[top : top + 2, left : left + 2]
                expected[row, column] = (1 - b) * ((1 - a) * square[0, 0] + a * square[0, 1]) + b * (
                    (1 - a) * square[1, 0] + a * square[1, 1]
                )
    close(warp(x[None, None], turned(numbers(25.0)))[0, 0], expected)


def test_whole_shifts_are_padding_and_cropping(images):
    x = images(count=1)
    moved = warp(x, shifted(numbers(2.0), numbers(-3.0)))
    expected = torch.zeros_like(x)
    expected[..., :-3, 2:] = x[..., 3:, :-2]
    close(moved, expected)


def test_minus_one_mirrors(images):
    x = images(count=1)
    close(warp(x, enlarged(numbers(-1.0), numbers(1.0))), x.flip(-1))
    close(warp(x, enlarged(numbers(1.0), numbers(-1.0))), x.flip(-2))


def test_twice_the_size_is_the_middle_interpolated_and_the_rim_is_not_darkened(images):
    x = images(count=1, height=8, width=12)
    whole = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
    close(warp(x, enlarged(numbers(2.0), numbers(2.0))), whole[..., 4:12, 6:18])
    corner = shifted(numbers(3.0), numbers(2.0)) @ enlarged(numbers(2.0), numbers(2.0))
    close(warp(x, corner), whole[..., :8, :12])


def test_a_slant_moves_rows_apart():
    x = torch.zeros(1, 1, 5, 9)
    x[..., 4] = 1  # a line from top to bottom
    leaning = warp(x, slanted(numbers(1.0), numbers(0.0)))[0, 0]
    assert leaning.argmax(1).tolist() == [2, 3, 4, 5, 6]
    assert warp(x.mT, slanted(numbers(0.0), numbers(1.0)))[0, 0].argmax(0).tolist() == [2, 3, 4, 5, 6]


def test_one_after_another_is_the_product(images):
    x = images(count=1, height=9, width=9)
    quarter, mirror = turned(numbers(90.0)), enlarged(numbers(-1.0), numbers(1.0))
    close(warp(x, quarter @ mirror), torch.rot90(x, 1, dims=(-2, -1)).flip(-1))
    close(warp(x, mirror @ quarter), torch.rot90(x.flip(-1), 1, dims=(-2, -1)))


def test_each_image_has_its_own_matrix(images):
    x = images(count=3, height=9, width=9)
    warped = warp(x, turned(numbers(0.0, 90.0, 180.0)))
    for quarters in range(3):
        close(warped[quarters], torch.rot90(x[quarters], quarters, dims=(-2, -1)))


def test_a_perspective_takes_corners_to_corners():
    square = numbers(-2.0, -2.0, 2.0, -2.0, 2.0, 2.0, -2.0, 2.0).reshape(1, 4, 2)
    bent = numbers(-1.0, -2.0, 2.0, -1.0, 1.5, 1.5, -2.0, 1.0).reshape(1, 4, 2)
    matrix = projection(bent, square)[0]
    for place, seen in zip(bent[0], square[0], strict=True):
        u, v, w = matrix @ torch.cat([place, numbers(1.0)])
        torch.testing.assert_close(torch.stack([u / w, v / w]), seen)


def test_pixels_from_outside_are_0():
    x = torch.ones(1, 1, 4, 4)
    small = warp(x, enlarged(numbers(0.5), numbers(0.5)))[0, 0]
    assert small.sum() == 4
    assert (small[1:3, 1:3] == 1).all()
