"""The histogram of scores: both densities, the threshold, and the errors counted by hand."""

import math

import numpy as np
import pytest
import torch

from samekind.decisions import Decision
from samekind.inference.trials import Trials
from samekind.reports import score_histogram
from samekind.reports.score_histogram import bin_edges


def trials(scores, same):
    """The histogram does not look at the classes."""
    nobody = torch.zeros(len(scores), dtype=torch.int32)
    return Trials(scores, same, nobody, nobody)


def decision(threshold):
    return Decision("cosine", threshold, "eer", "ten pairs", 0.0, 0.0)


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def densities(figure):
    """The outlines by name: values and edges."""
    return {patch.get_label(): patch.get_data() for patch in figure.axes[0].patches if not patch.get_fill()}


SCORES = torch.tensor([0.9, 0.8, 0.7, 0.2, 0.6, 0.3, 0.1, 0.0, 0.05])
SAME = torch.tensor([True] * 4 + [False] * 5)


def test_the_two_error_rates_are_those_counted_by_hand():
    # Below 0.5 lies one same pair of four, at or above it one different pair of five.
    words = texts(score_histogram(trials(SCORES, SAME), decision(0.5)))
    assert {"same, called different: 25.00 %", "different, called same: 20.00 %", "threshold 0.5"} <= set(
        words
    )


def test_a_score_at_the_threshold_is_called_the_same():
    words = texts(
        score_histogram(trials(torch.tensor([0.5, 0.5]), torch.tensor([True, False])), decision(0.5))
    )
    assert {"same, called different: 0.00 %", "different, called same: 100.00 %"} <= set(words)


def test_each_kind_is_a_density_of_its_own():
    for values, edges, _ in densities(score_histogram(trials(SCORES, SAME), decision(0.5))).values():
        assert (values * np.diff(edges)).sum() == pytest.approx(1)


def test_the_darker_areas_are_the_errors():
    figure = score_histogram(trials(SCORES, SAME), decision(0.5))
    dark = [
        patch.get_data() for patch in figure.axes[0].patches if patch.get_fill() and patch.get_alpha() > 0.5
    ]
    shares = [(data.values * np.diff(data.edges)).sum() for data in dark]
    assert shares == [pytest.approx(0.2), pytest.approx(0.25)]


@pytest.mark.parametrize("threshold", [None, 0.5, 0.123, float(SCORES.max()), 0.0, -3.0, math.inf])
def test_bins_hold_every_score_and_break_at_the_threshold(threshold):
    edges = bin_edges(SCORES.double(), threshold)
    assert np.histogram(SCORES.double().numpy(), bins=edges)[0].sum() == len(SCORES)
    if threshold is not None and 0 <= threshold <= float(SCORES.max()):
        assert threshold in edges


def test_one_kind_alone_is_drawn_alone():
    figure = score_histogram(trials(SCORES, torch.ones_like(SAME)), decision(0.5))
    assert list(densities(figure)) == ["same"]
    assert not any(words.startswith("different") for words in texts(figure))


def test_without_a_decision_there_is_no_threshold():
    figure = score_histogram(trials(SCORES, SAME), None)
    assert sorted(texts(figure)) == ["different", "same"]
    assert not figure.axes[0].lines


def test_a_threshold_that_accepts_nothing_is_no_line():
    figure = score_histogram(trials(SCORES, SAME), decision(math.inf))
    assert "same, called different: 100.00 %" in texts(figure)
    assert not figure.axes[0].lines


def at_the_threshold(seed):
    """Two densities whose peaks lie on the threshold, or on the wrong side of it."""
    draw = torch.Generator().manual_seed(seed)
    same = torch.arange(600) % 3 == 0
    return trials(0.1 * torch.randn(600, generator=draw) + 0.03 * seed * same, same)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.0, -0.08, 0.12, -0.3, 0.35, 1.0])
def test_words_stand_on_their_own_side_of_the_threshold_and_above_all_outlines(seed, threshold):
    figure = score_histogram(at_the_threshold(seed), decision(threshold))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    line = axes.transData.transform((threshold, 0))[0]
    words = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert words["different"].x1 < line < words["same"].x0
    assert axes.bbox.x0 - 1 <= words["different"].x0
    assert words["same"].x1 <= axes.bbox.x1 + 1
    for word in ("different", "same"):
        (left, bottom), (right, _) = axes.transData.inverted().transform(words[word].get_points())
        for values, edges, _ in densities(figure).values():
            below = values[(edges[1:] > left) & (edges[:-1] < right)]
            assert below.max(initial=0) < bottom


def test_refuses_no_pair():
    with pytest.raises(ValueError, match="at least one pair"):
        score_histogram(trials(torch.empty(0), torch.empty(0, dtype=torch.bool)), decision(0.5))
