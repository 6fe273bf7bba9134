"""Training curves: the loss, and the measures of validation items."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np

from samekind.decisions import Kind
from samekind.evaluation.validation import MEASURES
from samekind.measures.catalogue import EER, NMI
from samekind.measures.cluster_catalogue import CENTROID_SHIFT, CLUSTER_RADIUS
from samekind.measures.measure import Measure
from samekind.measures.tree_catalogue import CORRELATION, hierarchical_distance, hierarchical_precision
from samekind.reports.panels import Axes, Figure, dress, legend, new_figure, plain
from samekind.reports.style import DASHES, FULL, INK, MUTED, SERIES, SMALL

#: The measures in per cent; and those that share a panel, with the highest value that they can have.
SHARES = [
    measure
    for measures in (*MEASURES.values(), (hierarchical_precision(5),))
    for measure in measures
    if measure.is_share and measure != EER
]
OTHERS: list[tuple[tuple[Measure, ...], float]] = [
    ((NMI, CORRELATION), 1.0),
    ((hierarchical_distance(5),), math.inf),
    ((CLUSTER_RADIUS, CENTROID_SHIFT), math.inf),
]

Entries = Sequence[Mapping[str, Any]]

PER_CENT = (0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50, 70, 100)
#: The share of a panel's height above and below its lines, for the words.
ROOM = 0.3
#: The ratio of the largest to the smallest loss from which the scale is logarithmic.
RUNAWAY = 50
#: Columns of a legend.
COLUMNS = 4
#: Epochs with dots at most; a single epoch makes no line.
FEW = 15


def training_curves(records: Mapping[str, Entries]) -> Figure:
    """For each named record, two panels a row: the loss with its terms, then what validation measured: equal
    error rates, recall, kNN accuracy and HP@5 in per cent; NMI and the mean correlation with the tree; AHD@5;
    the radius of the classes and how far their means moved. A run with a class adversary has two more, for
    the loss of its classifier and the coefficient.

    A record is the lines of `training.Record`, one an epoch. The epoch whose space was kept is marked. Empty
    records are left out; if all are, that is a ``ValueError``. The error panels share one square-root scale,
    with room for small rates; losses have a scale of their own for each system.
    """
    records = {name: entries for name, entries in records.items() if entries}
    if not records:
        raise ValueError("expected a record with at least one epoch to draw, got none")
    panels = {name: _panels(entries) for name, entries in records.items()}
    rows = {name: (len(titles) + 1) // 2 for name, titles in panels.items()}
    figure = new_figure(FULL, 3.2 * sum(rows.values()))
    grid = figure.add_gridspec(sum(rows.values()), 2, hspace=0.12, wspace=0.08)
    places = iter([(row, column) for row in range(sum(rows.values())) for column in range(2)])
    errors = []
    for name, entries in records.items():
        for title, draw in panels[name].items():
            axes = figure.add_subplot(grid[next(places)])
            dress(axes, title=f"{name}: {title}", x="epoch")
            draw(axes, entries)
            _mark_kept(axes, entries)
            if draw is _draw_errors:
                errors.append(axes)
        if len(panels[name]) % 2:
            next(places)  # the next record begins a row of its own
    _share_scale(errors, [rate for entries in records.values() for rate in _rates(entries)])
    return figure


def _panels(entries: Entries) -> dict[str, Callable[[Axes, Entries], None]]:
    """The curves of a record, by title."""
    panels: dict[str, Callable[[Axes, Entries], None]] = {"training loss": _draw_loss}
    shares = _recorded(entries, SHARES)
    others = [(recorded, most) for group, most in OTHERS if (recorded := _recorded(entries, group))]
    if _error_labels(entries) or not (shares or others):
        panels["validation EER, %"] = _draw_errors
    if shares:
        panels["validation, %"] = partial(_draw_measures, measures=shares, factor=100, most=100)
    for measures, most in others:
        panels[f"validation {', '.join(measures)}"] = partial(_draw_measures, measures=measures, most=most)
    if "adversary" in entries[0]:
        panels["loss of the class adversary"] = _draw_adversary
        panels["coefficient of the class adversary"] = _draw_coefficient
    return panels


def _draw_loss(axes: Axes, entries: Entries) -> None:
    _line(axes, entries, [entry["loss"] for entry in entries], "total", INK)
    terms = list(entries[0].get("terms", {}))
    # A single term is the total, which is there already.
    for index, term in enumerate(terms if len(terms) > 1 else []):
        _line(axes, entries, [entry["terms"][term] for entry in entries], term, SERIES[index % len(SERIES)])
    legend(axes, columns=COLUMNS)


def _draw_errors(axes: Axes, entries: Entries) -> None:
    labels = _error_labels(entries)
    for index, (key, label) in enumerate(labels.items()):
        values = [100 * entry["validation"][key] for entry in entries]
        _line(axes, entries, values, label, SERIES[index % len(SERIES)], DASHES[index % len(DASHES)])
    if labels:
        legend(axes, columns=COLUMNS)


def _draw_measures(
    axes: Axes, entries: Entries, measures: Sequence[Measure], *, factor: float = 1, most: float
) -> None:
    """Measures times a factor. The axis has numbers from 0 to ``most`` alone."""
    for index, measure in enumerate(measures):
        known = [entry for entry in entries if measure.key in _measured(entry)]
        values = [factor * _measured(entry)[measure.key] for entry in known]
        _line(axes, known, values, measure, SERIES[index % len(SERIES)], DASHES[index % len(DASHES)])
    axes.margins(y=ROOM)
    low, high = axes.get_ylim()  # the room is for the words: there is no recall of 120%
    axes.set_yticks([tick for tick in axes.get_yticks() if max(low, 0) <= tick <= min(high, most)])
    legend(axes, columns=COLUMNS)


def _recorded(entries: Entries, measures: Sequence[Measure]) -> list[Measure]:
    """Those of the measures that are in the record."""
    return [measure for measure in measures if any(measure.key in _measured(entry) for entry in entries)]


def _measured(entry: Mapping[str, Any]) -> Mapping[str, float]:
    measured: Mapping[str, float] = entry.get("validation", {})
    return measured


def _draw_adversary(axes: Axes, entries: Entries) -> None:
    losses = {
        name: [entry["adversary"][key] for entry in entries]
        for key, name in (("loss", "with smoothing"), ("plain_loss", "without"))
    }
    for index, (name, values) in enumerate(losses.items()):
        _line(axes, entries, values, name, SERIES[index], DASHES[index])
    ranges = [(min(values), max(values)) for values in losses.values()]
    if all(low > 0 for low, _ in ranges) and any(high > RUNAWAY * low for low, high in ranges):
        axes.set_yscale("log")
    legend(axes, columns=COLUMNS)


def _draw_coefficient(axes: Axes, entries: Entries) -> None:
    """The coefficient of an adaptive adversary: above 0 the encoder works against the classifier."""
    axes.axhline(0, color=MUTED, linewidth=0.9, zorder=1)
    _line(axes, entries, [entry["adversary"]["coefficient"] for entry in entries], "coefficient", SERIES[0])
    axes.margins(y=ROOM)


def _error_labels(entries: Entries) -> dict[str, str]:
    """The rates to draw, by their keys in the record: one for each kind of score, or the only one."""
    by_kind = {EER.variant(kind).key: kind for kind in get_args(Kind)}
    others = {EER.key: str(EER), EER.variant("best").key: "best"}
    validation = entries[0].get("validation", {})
    labels = {key: kind for key, kind in by_kind.items() if key in validation}
    return labels or dict([item for item in others.items() if item[0] in validation][:1])


def _rates(entries: Entries) -> list[float]:
    return [100 * entry["validation"][key] for entry in entries for key in _error_labels(entries)]


def _line(
    axes: Axes, entries: Entries, values: list[float], name: str, colour: str, dashes: Any = "solid"
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


def _mark_kept(axes: Axes, entries: Entries) -> None:
    """A vertical line at the epoch whose space was kept: the last one called best."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
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


def _share_scale(panels: list[Axes], rates: list[float]) -> None:
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
