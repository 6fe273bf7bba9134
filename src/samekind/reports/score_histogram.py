"""Histograms of the scores of same and of different pairs, with the threshold."""

import math

import numpy as np
from torch import Tensor

from samekind.decisions import Decision
from samekind.inference.trials import Trials
from samekind.reports.panels import Axes, Figure, dress, new_figure, write
from samekind.reports.style import DIFFERENT, HALF, INK, LARGE, SAME

BINS = 80
#: Shares of the width: the longer of the two words, and the gap between a word and the threshold.
WIDEST, GAP = 0.19, 0.015
#: The lowest place of a word, as a share of the height.
LOWEST = 0.03


def score_histogram(trials: Trials, decision: Decision | None) -> Figure:
    """Densities of the scores of both kinds of pair, the threshold, and the two shares it gets wrong.

    Each kind is a density of its own, so that the rarer one can be seen. Errors are shaded: different pairs
    at or above the threshold, same pairs below it. A kind without pairs is left out, and the threshold too if
    there is no decision. No pair at all is a ``ValueError``.
    """
    if len(trials.scores) == 0:
        raise ValueError("expected at least one pair to draw the scores of, got none")
    threshold = decision.threshold if decision is not None else None
    scores, same = trials.scores.detach().cpu().double(), trials.same.cpu()
    edges = bin_edges(scores, threshold)
    figure = new_figure(HALF, 3.3)
    axes = figure.subplots()
    dress(axes, x=f"score ({decision.kind})" if decision is not None else "score", grid=None)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.margins(x=0.01)
    densities = {
        word: _draw_density(axes, own_scores, edges, word, threshold)
        for own_scores, word in ((scores[~same], "different"), (scores[same], "same"))
        if len(own_scores)
    }
    tallest = max(float(density.max()) for density in densities.values())
    axes.set_ylim(0, 1.5 * tallest)
    _write_words(axes, densities, edges, threshold)
    if threshold is not None:
        if math.isfinite(threshold):
            axes.plot([threshold, threshold], [0, 1.19 * tallest], color=INK, linewidth=1.1)
            write(axes, (threshold, 1.21 * tallest), f"threshold {threshold:.3g}", up="bottom")
        _write_errors(axes, scores >= threshold, same)
    return figure


def bin_edges(scores: Tensor, threshold: float | None) -> np.ndarray:
    """Equal bins over all scores; a threshold among them is an edge, so that no bin is half wrong."""
    low, high = float(scores.min()), float(scores.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = (high - low) / BINS
    start = threshold if threshold is not None and low <= threshold <= high else low
    below, above = math.ceil((start - low) / width), math.floor((high - start) / width) + 1
    return start + width * np.arange(-below, above + 1)


def _draw_density(
    axes: Axes, scores: Tensor, edges: np.ndarray, word: str, threshold: float | None
) -> np.ndarray:
    """One kind of pair: a pale area, its errors darker. Its density in each bin is returned."""
    colour = SAME if word == "same" else DIFFERENT
    counts, _ = np.histogram(scores.numpy(), bins=edges)
    density: np.ndarray = counts / counts.sum() / (edges[1] - edges[0])
    axes.stairs(density, edges, fill=True, color=colour, alpha=0.2, linewidth=0)
    if threshold is not None:
        called_same = edges[:-1] >= threshold
        wrong = ~called_same if word == "same" else called_same
        axes.stairs(np.where(wrong, density, 0), edges, fill=True, color=colour, alpha=0.65, linewidth=0)
    axes.stairs(density, edges, color=colour, linewidth=1.3, label=word)
    return density


def _write_words(
    axes: Axes, densities: dict[str, np.ndarray], edges: np.ndarray, threshold: float | None
) -> None:
    """The name of each kind near its peak, on its own side of the threshold and above all outlines."""
    low, high = float(edges[0]), float(edges[-1])
    span = high - low
    if threshold is not None and math.isfinite(threshold):
        low, high = min(low, threshold - WIDEST * span), max(high, threshold + WIDEST * span)
        axes.set_xlim(low - 0.01 * span, high + 0.01 * span)
        beside = {"different": threshold - GAP * span, "same": threshold + GAP * span}
    else:
        beside = {"different": high, "same": low}
    for word, density in densities.items():
        peak = float(edges[int(density.argmax())])
        # Written outwards, away from the threshold, but never out of the picture.
        if word == "same":
            start = min(max(peak, beside[word]), high - (WIDEST - GAP) * span)
            end, side, x = start + WIDEST * span, "left", start
        else:
            end = max(min(peak, beside[word]), low + (WIDEST - GAP) * span)
            start, side, x = end - WIDEST * span, "right", end
        covered = (edges[1:] >= start - GAP * span) & (edges[:-1] <= end + GAP * span)
        highest = max(float(density[covered].max(initial=0)) for density in densities.values())
        top = max(highest, LOWEST * axes.get_ylim()[1])
        colour = SAME if word == "same" else DIFFERENT
        write(axes, (x, 1.03 * top), word, colour=colour, size=LARGE, across=side, up="bottom")


def _write_errors(axes: Axes, accepted: Tensor, same: Tensor) -> None:
    """The two error rates, in the corners on their own side of the threshold."""
    corners = (
        (0.0, "left", "same, called different", same, ~accepted, SAME),
        (1.0, "right", "different, called same", ~same, accepted, DIFFERENT),
    )
    for x, side, words, pairs, answered, colour in corners:
        if pairs.any():
            rate = 100 * int((pairs & answered).sum()) / int(pairs.sum())
            label = write(axes, (x, 1.0), f"{words}: {rate:.2f} %", colour=colour, across=side, up="top")
            label.set_transform(axes.transAxes)
