"""Windows of the right sizes, and what is seen in them."""

import pytest
import torch
import torch.nn.functional as F

from samekind.augmentations import Flip, RandomResizedCrop, augment
from samekind.errors import SettingError


def boxes(crop, height, width, count=2000):
    """Centre and size of the windows, in pixels of the image: four of (count,)."""
    matrices = crop.matrices(torch.empty(count, 1, height, width), generator=torch.Generator().manual_seed(0))
    return matrices[:, 0, 2], matrices[:, 1, 2], matrices[:, 0, 0] * width, matrices[:, 1, 1] * height


def test_windows_lie_inside_with_the_given_areas_and_shapes():
    x, y, across, along = boxes(RandomResizedCrop(scale=(0.2, 0.9), ratio=(0.5, 2.0)), 32, 32)
    assert ((x.abs() + across / 2) <= 16 + 1e-9).all()
    assert ((y.abs() + along / 2) <= 16 + 1e-9).all()
    areas, shapes = across * along / 32**2, across / along
    assert 0.2 <= areas.min() < 0.21
    assert 0.85 < areas.max() <= 0.9 + 1e-9
    assert 0.5 <= shapes.min() < 0.52
    assert 1.92 < shapes.max() <= 2 + 1e-9
    assert abs(shapes.log().mean()) < 0.05
    assert abs(x.mean()) < 0.5


def test_the_shape_is_relative_to_that_of_the_image():
    _, _, across, along = boxes(RandomResizedCrop(scale=(0.5, 0.5), ratio=(1.0, 1.0)), 20, 40)
    torch.testing.assert_close(across / along, torch.full_like(across, 2.0))


def test_where_no_window_fits_the_whole_image_is_taken(images, chances):
    x = images()
    seen = RandomResizedCrop(scale=(1.0, 1.0), ratio=(2.0, 3.0))(x, generator=chances())
    torch.testing.assert_close(seen, x, atol=1e-6, rtol=0)


def test_a_window_is_seen_enlarged(images, chances):
    """Against interpolating by hand, for a quarter of the image."""
    x = images(count=1, height=8, width=8)
    crop = RandomResizedCrop(scale=(0.25, 0.25), ratio=(1.0, 1.0))
    matrices = crop.matrices(x, generator=chances())
    left, top = (float(matrices[0, row, 2]) - 2 + 4 for row in (0, 1))
    seen = crop(x, generator=chances())
    for row in range(8):
        for column in range(8):
            u, v = left + (column + 0.5) / 2 - 0.5, top + (row + 0.5) / 2 - 0.5
            u, v = min(max(u, 0), 7), min(max(v, 0), 7)
            a, b = min(int(u), 6), min(int(v), 6)
            square, p, q = x[0, :, b : b + 2, a : a + 2], u - a, v - b
            upper = (1 - p) * square[:, 0, 0] + p * square[:, 0, 1]
            lower = (1 - p) * square[:, 1, 0] + p * square[:, 1, 1]
            torch.testing.assert_close(
                seen[0, :, row, column], (1 - q) * upper + q * lower, atol=1e-5, rtol=0
            )


@pytest.mark.parametrize(("height", "width", "size"), [(8, 8, 12), (12, 9, 6), (9, 12, 9)])
def test_a_window_is_shown_in_the_size_asked_for(images, chances, height, width, size):
    """The whole image, as interpolation between pixels resizes it; alone and beside another augmentation."""
    x = images(count=2, height=height, width=width)
    crop = RandomResizedCrop(scale=(1.0, 1.0), ratio=(1.0, 1.0), size=size)
    expected = F.interpolate(x, size=(size, size), mode="bilinear", align_corners=False)
    torch.testing.assert_close(crop(x, generator=chances()), expected, atol=1e-5, rtol=0)
    mirrored = augment(x, [crop, Flip(probability=1.0)], generator=chances())
    torch.testing.assert_close(mirrored, expected.flip(-1), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scale": (0.5, 1.5)}, "scale: a window is at most the whole image"),
        ({"scale": (0.0, 1.0)}, "scale: expected two numbers above 0"),
        ({"size": 0}, "size: expected 1 pixel or more; got 0"),
        ({"ratio": (2.0, 1.0)}, "ratio: expected two numbers above 0, the smaller first"),
    ],
)
def test_refuses_impossible_settings(wrong, message):
    with pytest.raises(SettingError, match=message):
        RandomResizedCrop(**wrong)
