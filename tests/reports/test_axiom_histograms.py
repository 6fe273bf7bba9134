"""The picture of the metric axioms: three times so many cases of each size, and their numbers."""

from itertools import pairwise

import numpy as np
import torch

from samekind.measures import Breaches, MetricAxioms, metric_breaches
from samekind.reports import axiom_histograms
from samekind.reports.axiom_histograms import LEAST

DISTANCES = torch.rand(6, 6, generator=torch.Generator().manual_seed(0))


def counts(axes):
    """What is drawn: cases in each column, and the edges."""
    [outline] = [patch for patch in axes.patches if not patch.get_fill()]
    drawn = outline.get_data()
    return np.where(drawn.values > LEAST, drawn.values, 0), drawn.edges


def test_the_columns_are_the_cases_that_were_measured():
    axioms = metric_breaches(DISTANCES)
    figure = axiom_histograms(axioms)
    for axes, result in zip(figure.axes, axioms, strict=True):
        drawn, edges = counts(axes)
        assert drawn.sum() == result.cases
        np.testing.assert_allclose(drawn / result.cases / np.diff(edges), result.density, atol=1e-9)


def test_one_case_of_very_many_is_seen():
    rare = Breaches(1e-7, 0.0, 0.0, 1.0, 1_000_000, torch.linspace(0, 1, 3), torch.tensor([2 - 2e-6, 2e-6]))
    axes = axiom_histograms(MetricAxioms(rare, rare, rare)).axes[2]
    drawn, _ = counts(axes)
    assert drawn.tolist() == [999_999, 1]
    low, high = np.log(axes.get_ylim())
    assert (np.log(1) - low) / (high - low) > 0.02
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert ticks == ["1", "100", "10,000"]
    assert "max(0, " in axes.get_xlabel()


def test_the_numbers_are_written():
    axioms = metric_breaches(DISTANCES)
    for axes, result in zip(axiom_histograms(axioms).axes, axioms, strict=True):
        [words] = [text.get_text() for text in axes.texts]
        assert f"mean {result.mean:.3g}\n" in words
        assert f"most {result.most:.3g}\n" in words
        assert words.endswith(f"{result.cases:,} cases")


def test_a_metric_is_drawn_at_zero():
    points = torch.arange(4.0)[:, None]
    figure = axiom_histograms(metric_breaches((points - points.T).abs()))
    for axes in figure.axes:
        drawn, edges = counts(axes)
        [column] = np.nonzero(drawn)[0]
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
