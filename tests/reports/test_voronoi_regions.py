"""The regions of paper III's toy set, drawn."""

import pytest
import torch

from samekind.reports import voronoi_regions
from samekind.reports.voronoi_regions import TOY, TOY_CLASSES, nearest_neighbour_accuracies


def words(axes):
    return [text.get_text() for text in (axes.title, *axes.texts)]


@pytest.fixture(scope="module")
def panels():
    return voronoi_regions(TOY, TOY_CLASSES, [0.5, 1.0]).axes


def test_a_panel_for_every_measure_and_epsilon(panels):
    assert [words(axes) for axes in panels] == [
        ["standard, ε = 0.5", "accuracy of 1-NN: 50.0%"],
        ["standard, ε = 1", "accuracy of 1-NN: 12.5%"],
        ["Voronoi, ε = 0.5", "accuracy of 1-NN: 100.0%"],
        ["Voronoi, ε = 1", "accuracy of 1-NN: 100.0%"],
    ]
    assert all(len(axes.lines) == len(TOY) for axes in panels)


def test_only_what_two_classes_claim_is_hatched(panels):
    hatched = [
        any("/////" in drawn.hatches for drawn in axes.collections if hasattr(drawn, "hatches"))
        for axes in panels
    ]
    assert hatched == [False, True, False, False]


def test_the_areas_are_the_regions(panels):
    """At (0.6, 0.6) and (0.4, 0.4), on both sides of the wall between (0, 0) and (1, 1)."""
    for axes, expected in (
        (panels[1], [[True, True], [True, True]]),
        (panels[3], [[False, True], [True, False]]),
    ):
        areas = [drawn for drawn in axes.collections if getattr(drawn, "filled", False)][:2]
        inside = [
            [any(path.contains_point(place) for path in area.get_paths()) for area in areas]
            for place in ((0.4, 0.4), (0.6, 0.6))
        ]
        assert inside == expected


def test_the_accuracies_are_exact_where_balls_touch():
    """At half the smallest distance closed balls touch: four of eight items have a tie in theirs."""
    assert nearest_neighbour_accuracies(TOY, TOY_CLASSES, [0.4999, 0.5], voronoi=False) == [1.0, 0.5]


def test_no_epsilon_is_refused():
    with pytest.raises(ValueError, match="at least one epsilon, all above 0"):
        voronoi_regions(TOY, torch.zeros(8, dtype=torch.long), [])
