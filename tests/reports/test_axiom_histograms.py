"""The picture of the metric axioms: three densities and their numbers."""

from itertools import pairwise

import numpy as np
import torch

from samekind.measures import metric_breaches
from samekind.reports import axiom_histograms

DISTANCES = torch.rand(6, 6, generator=torch.Generator().manual_seed(0))


def test_the_densities_drawn_are_those_measured_each_with_an_area_of_one():
    axioms = metric_breaches(DISTANCES)
    figure = axiom_histograms(axioms)
    for axes, found in zip(figure.axes, axioms, strict=True):
        [outline] = [patch for patch in axes.patches if not patch.get_fill()]
        drawn = outline.get_data()
        np.testing.assert_allclose(drawn.values, found.density)
        np.testing.assert_allclose((drawn.values * np.diff(drawn.edges)).sum(), 1)


def test_the_numbers_are_written():
    axioms = metric_breaches(DISTANCES)
    for axes, found in zip(axiom_histograms(axioms).axes, axioms, strict=True):
        [words] = [text.get_text() for text in axes.texts]
        assert f"mean {found.mean:.3g}\n" in words
        assert f"most {found.most:.3g}\n" in words
        assert words.endswith(f"{found.cases:,} cases")


def test_a_metric_is_drawn_at_zero():
    points = torch.arange(4.0)[:, None]
    figure = axiom_histograms(metric_breaches((points - points.T).abs()))
    for axes in figure.axes:
        [outline] = [patch for patch in axes.patches if not patch.get_fill()]
        [column] = np.nonzero(outline.get_data().values)[0]
        edges = outline.get_data().edges
        assert edges[column] - 1e-9 <= 0 <= edges[column + 1] + 1e-9


def test_how_far_it_is_from_zero_can_be_seen():
    far = torch.rand(6, 6, generator=torch.Generator().manual_seed(0)) / 10 + 7
    for axes in axiom_histograms(metric_breaches(far)).axes:
        low, high = axes.get_xlim()
        [outline] = [patch for patch in axes.patches if not patch.get_fill()]
        assert low <= 0
        assert high >= outline.get_data().edges[-1]


def test_the_numbers_along_a_panel_keep_apart():
    figure = axiom_histograms(metric_breaches(DISTANCES / 5))
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [tick.get_window_extent() for tick in axes.get_xticklabels() if tick.get_text()]
        gaps = [after.x0 - before.x1 for before, after in pairwise(boxes)]
        assert len(boxes) > 2
        # As wide as two digits at least.
        assert min(gaps) > boxes[0].height
