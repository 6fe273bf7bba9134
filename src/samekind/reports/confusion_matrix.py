"""The confusion matrix."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from samekind.reports.names import shortened, tell_whole
from samekind.reports.panels import Axes, Figure, dress, new_figure, plain, write
from samekind.reports.style import BESIDE, FAINT, INK, MUTED, PAPER, SMALL, WRONG

#: Characters of a name, with few classes and with more than `FEW`.
LONGEST_NAMES, FEW = (22, 14), 15
#: Classes with numbers in the cells, and names along an axis, at most: more could not be read.
MOST_NUMBERS, MOST_NAMES = 25, 50


def confusion_matrix(counts: Tensor, classes: Sequence[str]) -> Figure:
    """Counts (truth, predicted) as a table in which mistakes stand out.

    A mistake is shaded by its share of the true class (the square root of it, so that a rare one is seen
    too); right answers are pale. Beside each row stands the share of the class that was named rightly. A
    class without items has an empty row. With more than 25 classes there are no numbers, with more than 50
    not all names: one in `names_step`.
    """
    if counts.shape != (len(classes), len(classes)) or not classes:
        expected = f"counts ({len(classes)}, {len(classes)}) of at least one class"
        raise ValueError(f"expected {expected}, got {tuple(counts.shape)}")
    table = counts.cpu().numpy().astype(np.int64)
    shown = range(0, len(classes), names_step(len(classes)))
    whole = [classes[index] for index in shown]
    names = [plain(name) for name in shortened(whole, LONGEST_NAMES[len(classes) > FEW])]
    longest = max(len(name) for name in names)
    side = min(1.6 + 0.06 * max(longest - 14, 0) + 0.5 * len(classes), BESIDE)
    figure = new_figure(side, side)
    axes = figure.subplots()
    axes.imshow(_colours(table), interpolation="nearest")
    dress(axes, x="answered", y="true class", grid=None)
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)
    if len(classes) <= MOST_NUMBERS:
        _write_numbers(axes, table)
    axes.set_xticks(shown, names, rotation=90 if longest > 3 else 0)
    axes.set_yticks(shown, names)
    axes.tick_params(labelcolor=INK)
    for label, name in zip([*axes.get_xticklabels(), *axes.get_yticklabels()], 2 * whole, strict=True):
        tell_whole(label, name)
    return figure


def names_step(classes: int) -> int:
    """One class in how many is named."""
    return 1 + (classes - 1) // MOST_NAMES


def _colours(table: np.ndarray) -> np.ndarray:
    """The colour of each cell, (n, n, 3): white to the colour of mistakes, the diagonal pale."""
    from matplotlib.colors import to_rgb

    shares = table / np.maximum(table.sum(1, keepdims=True), 1)
    strength = np.sqrt(shares)[..., None]
    cells: np.ndarray = (1 - strength) * np.array(to_rgb(PAPER)) + strength * np.array(to_rgb(WRONG))
    diagonal = np.arange(len(table))
    cells[diagonal, diagonal] = to_rgb(FAINT)
    return cells


def _write_numbers(axes: Axes, table: np.ndarray) -> None:
    """The count in each cell that has one, the share of right answers beside each row, and thin rules."""
    for row, column in zip(*table.nonzero(), strict=True):
        if row == column:
            write(axes, (column, row), f"{table[row, column]:,}", colour=MUTED)
        else:
            strong = table[row, column] > 0.3 * table[row].sum()
            label = write(axes, (column, row), f"{table[row, column]:,}", colour=PAPER if strong else INK)
            label.set_fontweight("bold")
    for row, (right, everything) in enumerate(zip(table.diagonal(), table.sum(1), strict=True)):
        if everything:
            share = f"{100 * right / everything:.1f} %"
            write(axes, (len(table) - 0.3, row), share, colour=MUTED, size=SMALL, across="left")
    between = np.arange(len(table) - 1) + 0.5
    axes.hlines(between, -0.5, len(table) - 0.5, color=FAINT, linewidth=0.7)
    axes.vlines(between, -0.5, len(table) - 0.5, color=FAINT, linewidth=0.7)
