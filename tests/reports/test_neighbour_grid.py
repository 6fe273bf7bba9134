"""The grid of neighbours: the right pictures in the right frames."""

from itertools import combinations

import numpy as np
import pytest
import torch

from samekind.reports import neighbour_grid
from samekind.reports.style import INK, RIGHT, WRONG

LABELS = torch.tensor([0, 0, 1, 1])
CLASSES = ["cat", "a very long name"]
QUERIES, INDICES = torch.tensor([0, 3]), torch.tensor([[1, 2], [2, 0]])


def pictures(low=0.0, high=1.0, channels=1):
    """Four pictures of one grey each, from low to high."""
    return torch.linspace(low, high, 4)[:, None, None, None].expand(4, channels, 5, 6)


def grid(inputs):
    return neighbour_grid(inputs, LABELS, CLASSES, INDICES, queries=QUERIES)


def test_a_row_is_the_query_and_its_neighbours():
    axes = grid(pictures()).axes[0]
    shades = [float(np.mean(image.get_array())) for image in axes.images]
    assert shades == pytest.approx([0, 1 / 3, 2 / 3, 1, 2 / 3, 0])
    rows = [image.get_extent()[3] for image in axes.images]
    assert rows == sorted(rows)
    assert rows[0] == rows[2] != rows[3]


def test_right_and_wrong_differ_by_mark_as_well_as_by_colour():
    axes = grid(pictures()).axes[0]
    frames = [patch.get_edgecolor() for patch in axes.patches]
    words = [(text.get_text(), text.get_color()) for text in axes.texts][: len(frames)]
    assert words == [
        ("cat", INK),
        ("✓ cat", RIGHT),
        ("✗ a very…", WRONG),
        ("a very…", INK),
        ("✓ a very…", RIGHT),
        ("✗ cat", WRONG),
    ]
    assert frames[1] == frames[4] != frames[2] == frames[5]


def test_classes_that_begin_alike_have_different_short_names():
    figure = neighbour_grid(
        pictures(), LABELS, ["protist_noctiluca", "protist_star"], INDICES, queries=QUERIES
    )
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words[:3] == ["pro…uca", "✓ pro…uca", "✗ pro…tar"]


def test_long_names_do_not_touch():
    names = ["Melanoma suspected", "Memorandum"]
    figure = neighbour_grid(pictures(), LABELS, names, INDICES, queries=QUERIES)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not [(one, other) for one, other in combinations(boxes, 2) if one.overlaps(other)]


@pytest.mark.parametrize(("low", "high"), [(-3.0, 2.0), (0.0, 255.0)])
def test_other_ranges_are_squeezed_into_what_can_be_shown(low, high):
    shades = [float(np.mean(image.get_array())) for image in grid(pictures(low, high)).axes[0].images]
    assert shades == pytest.approx([0, 1 / 3, 2 / 3, 1, 2 / 3, 0], abs=1e-6)


def test_identical_pictures_can_be_shown():
    grid(pictures(-1.0, -1.0)).draw_without_rendering()


def test_colours_stay_colours():
    inputs = torch.zeros(4, 3, 5, 6)
    inputs[:, 1] = 0.5
    image = grid(inputs).axes[0].images[0].get_array()
    assert image.shape == (5, 6, 3)
    assert image[0, 0].tolist() == [0, 0.5, 0]


@pytest.mark.parametrize("shape", [(4, 7), (4, 5, 6), (4, 5, 5, 6)])
def test_items_that_are_not_pictures_have_no_grid(shape):
    assert grid(torch.rand(shape)) is None


def test_no_query_gives_no_grid():
    nobody = torch.empty(0, dtype=torch.int64)
    empty = torch.empty(0, 2, dtype=torch.int64)
    assert neighbour_grid(pictures(), LABELS, CLASSES, empty, queries=nobody) is None
