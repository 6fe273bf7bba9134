"""Feature spaces side by side: how much of the input distances each kept, and how its classes lie."""

from collections.abc import Mapping, Sequence

from samekind.reports.panels import Figure, dress, new_figure, plain
from samekind.reports.style import FULL, SERIES, SMALL

#: The measures that are drawn, with their titles.
PANELS = {
    "MC l2": "mean correlation with input distances (l2)",
    "phi": "discriminative value φ (between / within)",
    "R2": "R² (share of distances between classes)",
    "directions": "directions of significant variance",
}


def representation_bars(names: Sequence[str], spaces: Sequence[Mapping[str, float]]) -> Figure:
    """Four panels, one for each of `PANELS`, a bar for each named space. No space is a ``ValueError``."""
    if not spaces or len(names) != len(spaces):
        raise ValueError(f"expected a name for each space, one at least; got {len(names)}, {len(spaces)}")
    figure = new_figure(FULL, 2.4 + 2 * 0.32 * len(spaces))
    for axes, (measure, title) in zip(figure.subplots(2, 2).flatten(), PANELS.items(), strict=True):
        dress(axes, title=title, grid="x")
        values = [space[measure] for space in spaces]
        places = range(len(values))
        axes.barh(places, values, color=SERIES[0], height=0.62)
        axes.set_yticks(list(places), [plain(name) for name in names], fontsize=SMALL)
        axes.invert_yaxis()
        axes.axvline(0, color="black", linewidth=0.6)
        for place, value in zip(places, values, strict=True):
            axes.annotate(
                f"{value:.3g}", (max(value, 0.0), place), xytext=(4, 0), textcoords="offset points",
                va="center", fontsize=SMALL,
            )  # fmt: skip
        axes.margins(x=0.14)
    return figure
