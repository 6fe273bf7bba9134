"""A picture and where a network looks: panels, words, scales, and the enlarging against a loop."""

import math

import numpy as np
import pytest
import torch

from samekind.reports import Overlay, attention_maps
from samekind.reports.attention_maps import enlarged

PICTURE = torch.rand(3, 6, 8, generator=torch.Generator().manual_seed(0))


def overlay(values, title="attention in layer3", note="2 x 2 places"):
    return Overlay(title, note, torch.tensor(values))


def words(axes):
    return [axes.get_title(loc="left"), *(text.get_text() for text in axes.texts)]


def enlarged_by_hand(values, height, width):
    """Bilinear between the middles of the places, and their own value beyond the outermost."""
    rows, columns = len(values), len(values[0])

    def between(place, count, size):
        at = min(max((place + 0.5) * count / size - 0.5, 0), count - 1)
        low = min(math.floor(at), max(count - 2, 0))
        return low, min(low + 1, count - 1), at - low

    result = []
    for y in range(height):
        top, bottom, down = between(y, rows, height)
        line = []
        for x in range(width):
            left, right, across = between(x, columns, width)
            upper = values[top][left] * (1 - across) + values[top][right] * across
            lower = values[bottom][left] * (1 - across) + values[bottom][right] * across
            line.append(upper * (1 - down) + lower * down)
        result.append(line)
    return result


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (3, 1)])
def test_enlarging_agrees_with_the_loop(shape):
    values = torch.rand(*shape, generator=torch.Generator().manual_seed(2), dtype=torch.double)
    expected = torch.tensor(enlarged_by_hand(values.tolist(), 7, 8), dtype=torch.double)
    torch.testing.assert_close(enlarged(values, (7, 8)), expected)


def test_a_panel_for_the_picture_and_one_for_each_map_with_its_range():
    figure = attention_maps(
        PICTURE, [overlay([[0.5, 1.5], [1.0, 1.0]]), overlay([[0.0, 0.25]], "what speaks for $x", "Grad-CAM")]
    )
    picture, first, first_bar, second, second_bar = figure.axes
    assert words(picture) == ["the picture", "8 x 6 pixels, as it is read"]
    assert words(first) == ["attention in layer3", "2 x 2 places"]
    assert words(first_bar) == ["", "0.5", "1.5"]
    assert words(second) == [r"what speaks for \$x", "Grad-CAM"]
    assert words(second_bar) == ["", "0", "0.25"]
    np.testing.assert_allclose(picture.images[0].get_array(), PICTURE.movedim(0, -1).numpy())
    np.testing.assert_allclose(first.images[0].get_array(), PICTURE.mean(0).numpy(), rtol=1e-6)


def test_the_map_lies_on_the_whole_picture_and_is_brightest_where_most_is():
    figure = attention_maps(PICTURE, [overlay([[0.0, 0.0], [0.0, 9.0]])])
    below, over = figure.axes[1].images
    assert list(below.get_extent()) == list(over.get_extent()) == [-0.5, 7.5, 5.5, -0.5]
    shown = over.get_array()
    assert shown.shape[0] / shown.shape[1] == 6 / 8
    light = shown[..., :3].sum(2)
    assert light[-1, -1] == light.max()
    assert light[0, 0] == light.min()
    assert shown[-1, -1, 3] > shown[0, 0, 3]


@pytest.mark.parametrize("values", [[[0.0, 0.0]], [[0.25, 0.25]]])
def test_a_map_that_is_the_same_everywhere_is_dark_throughout(values):
    figure = attention_maps(PICTURE, [overlay(values)])
    shown = figure.axes[1].images[1].get_array()
    assert np.ptp(shown, axis=(0, 1)).max() == 0
    assert shown[0, 0, :3].sum() < 0.1


@pytest.mark.parametrize(
    "image",
    [
        torch.full((1, 4, 4), 128, dtype=torch.uint8),
        torch.rand(1, 4, 4),
        torch.linspace(-3, 5, 48).reshape(3, 4, 4),
    ],
)
def test_bytes_grey_and_floats_of_any_range_are_shown(image):
    shown = attention_maps(image, []).axes[0].images[0].get_array()
    assert shown.shape == (4, 4, 3)
    assert 0 <= shown.min() <= shown.max() <= 1
    if image.dtype == torch.uint8:
        np.testing.assert_allclose(shown, 128 / 255)


@pytest.mark.parametrize("shape", [(64, 16), (16, 64), (32, 32)])
def test_panels_do_not_overlap_and_lie_on_the_page(shape):
    figure = attention_maps(torch.rand(3, *shape), [overlay([[0.0, 1.0]])] * 6)
    boxes = [axes.get_position() for axes in figure.axes]
    assert len(boxes) == 1 + 2 * 6
    for place, one in enumerate(boxes):
        assert 0 <= one.x0 < one.x1 <= 1
        assert 0 <= one.y0 < one.y1 <= 1
        assert not any(one.overlaps(other) for other in boxes[place + 1 :])
    width, height = figure.get_size_inches()
    box = boxes[0]
    assert (box.height * height) / (box.width * width) == pytest.approx(shape[0] / shape[1])


@pytest.mark.parametrize(
    "values", [torch.tensor([[float("nan")]]), torch.tensor([[-1.0]]), torch.ones(2), torch.ones(1, 2, 2)]
)
def test_refuses_invalid_maps(values):
    with pytest.raises(ValueError, match=r'expected a map .* for "a"; got'):
        attention_maps(PICTURE, [Overlay("a", "", values)])


@pytest.mark.parametrize("shape", [(5, 4, 4), (4, 4), (3, 0, 4)])
def test_refuses_invalid_pictures(shape):
    with pytest.raises(ValueError, match="expected a grey or colour picture"):
        attention_maps(torch.zeros(shape), [])
