"""Feature spaces against the attack that they were trained with: a measure at each epsilon of a norm."""

from collections.abc import Mapping, Sequence

from samekind.reports.panels import Figure, dress, new_figure
from samekind.reports.representation_bars import PANELS
from samekind.reports.style import FULL, SERIES

#: Inches of a panel, from top to bottom.
HEIGHT = 1.7


def representation_curves(
    budgets: Sequence[tuple[str, float]], spaces: Sequence[Mapping[str, float]]
) -> Figure:
    """A row for each of `PANELS`, a column for each norm: a dot for each space at the epsilon of its budget,
    a norm and an epsilon, and a line through their means. Spaces with epsilon 0 stand in every column. A norm
    with a single epsilon has no column; without any column it is a ``ValueError``.
    """
    norms = dict.fromkeys(norm for norm, epsilon in budgets if epsilon)
    columns = {norm: places for norm in norms if len(places := _places(budgets, norm)) > 1}
    if not columns:
        raise ValueError("expected spaces trained against two epsilons of one norm or more, 0 among them")
    figure = new_figure(FULL, HEIGHT * len(PANELS))
    panels = figure.subplots(len(PANELS), len(columns), squeeze=False, sharex="col", sharey="row")
    for measure, row in zip(PANELS, panels, strict=True):
        for (norm, places), axes in zip(columns.items(), row, strict=True):
            first, last = axes is row[0], measure == list(PANELS)[-1]
            dress(axes, title=PANELS[measure] if first else "", x=f"epsilon ({norm})" if last else "")
            values = {epsilon: [spaces[place][measure] for place in some] for epsilon, some in places.items()}
            means = [sum(some) / len(some) for some in values.values()]
            axes.plot(list(values), means, color=SERIES[0], linewidth=1.5)
            dots = [(epsilon, value) for epsilon, some in values.items() for value in some]
            axes.plot(*zip(*dots, strict=True), color=SERIES[0], linestyle="", marker="o", markersize=3.5)
            if all(float(value).is_integer() for _, value in dots):  # a number of directions
                axes.yaxis.get_major_locator().set_params(integer=True)
    return figure


def _places(budgets: Sequence[tuple[str, float]], norm: str) -> dict[float, list[int]]:
    """The places of the spaces that were trained by a norm, or not at all, by epsilon; in order."""
    places: dict[float, list[int]] = {}
    for place, (by, epsilon) in sorted(enumerate(budgets), key=lambda entry: entry[1][1]):
        if by == norm or not epsilon:
            places.setdefault(epsilon, []).append(place)
    return places
