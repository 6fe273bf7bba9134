"""How training went: what was minimised, and the error on items that were held back."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.reports.style import DASHES, FULL, INK, MUTED, SERIES, SMALL, dress, legend, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Entries = Sequence[Mapping[str, Any]]

PER_CENT = (0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 70, 100)
#: Up to so many epochs are dots on the line as well; a single one would be no line at all.
FEW = 15


def training_curves(records: Mapping[str, Entries]) -> "Figure":
    """A row for each named record: the loss with its terms, and the equal error rates in per cent.

    A record is the lines of `training.Record`, one an epoch. The epoch whose space was kept is marked. A
    record without a line is left out; if nothing is left, that is a ``ValueError``. The error panels share
    one scale, the square root, on which 0 has a place and small rates have room; the losses of different
    systems cannot be compared and have each their own.
    """
    records = {name: entries for name, entries in records.items() if entries}
    if not records:
        raise ValueError("expected a record with at least one epoch to draw, got none")
    figure = new_figure(FULL, 2.9 * len(records))
    panels = figure.subplots(len(records), 2, squeeze=False, gridspec_kw={"hspace": 0.12, "wspace": 0.08})
    for (left, right), (name, entries) in zip(panels, records.items(), strict=True):
        dress(left, title=f"{name}: training loss", x="epoch")
        dress(right, title=f"{name}: validation EER, %", x="epoch")
        _draw_loss(left, entries)
        _draw_errors(right, entries)
        for axes in (left, right):
            _mark_kept(axes, entries)
    _share_scale(list(panels[:, 1]), [rate for entries in records.values() for rate in _rates(entries)])
    return figure


def _draw_loss(axes: "Axes", entries: Entries) -> None:
    _line(axes, entries, [entry["loss"] for entry in entries], "total", INK)
    terms = list(entries[0].get("terms", {}))
    # A single term is the total, which is there already.
    for index, term in enumerate(terms if len(terms) > 1 else []):
        _line(axes, entries, [entry["terms"][term] for entry in entries], term, SERIES[index % len(SERIES)])
    legend(axes, place="best")


def _draw_errors(axes: "Axes", entries: Entries) -> None:
    names = _error_names(entries)
    for index, name in enumerate(names):
        values = [100 * entry["validation"][name] for entry in entries]
        colour, dashes = SERIES[index % len(SERIES)], DASHES[index % len(DASHES)]
        _line(axes, entries, values, name.removeprefix("eer ").replace("eer", "lowest"), colour, dashes)
    if names:
        legend(axes, place="best")


def _error_names(entries: Entries) -> list[str]:
    """The rates to draw: one for each kind of score; their lowest, which hides one of them, only alone."""
    measures = list(entries[0].get("validation", {}))
    return [name for name in measures if name.startswith("eer ")] or [m for m in measures if m == "eer"]


def _rates(entries: Entries) -> list[float]:
    return [100 * entry["validation"][name] for entry in entries for name in _error_names(entries)]


def _line(
    axes: "Axes", entries: Entries, values: list[float], name: str, colour: str, dashes: Any = "solid"
) -> None:
    epochs = [entry["epoch"] for entry in entries]
    marker = "o" if len(epochs) <= FEW else None
    width = 1.8 if colour == INK else 1.3
    axes.plot(
        epochs,
        values,
        label=plain(name),
        color=colour,
        linewidth=width,
        linestyle=dashes,
        marker=marker,
        markersize=3,
    )


def _mark_kept(axes: "Axes", entries: Entries) -> None:
    """A vertical line at the epoch whose space was kept: the last one called best."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    best = [entry["epoch"] for entry in entries if entry.get("best")]
    if best:
        axes.axvline(best[-1], color=MUTED, linewidth=0.9, linestyle=DASHES[1], zorder=1)
        late = best[-1] > (entries[0]["epoch"] + entries[-1]["epoch"]) / 2
        axes.annotate(
            f"kept: epoch {best[-1]}",
            (best[-1], 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-6 if late else 6, 0),
            textcoords="offset points",
            ha="right" if late else "left",
            va="top",
            fontsize=SMALL,
            color=MUTED,
        )


def _share_scale(panels: list["Axes"], rates: list[float]) -> None:
    """The same square-root scale for all panels, from 0 to just above the highest rate."""
    highest = 1.1 * max([*rates, 0.1])
    ticks: list[float] = []
    for tick in reversed([tick for tick in PER_CENT if tick <= highest]):
        # Near 0 the labels would touch: only those with room stay, and 0 itself.
        room = 0.07 * highest**0.5
        if tick == 0 or (tick**0.5 > room and (not ticks or ticks[-1] ** 0.5 - tick**0.5 > room)):
            ticks.append(tick)
    for axes in panels:
        axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0)), np.square))
        axes.set_ylim(0, highest)
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
