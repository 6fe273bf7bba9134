"""Figures, their panels and the words in them: thin lines, muted text.

Everything is set on the artists, so matplotlib settings do not change a report.
"""

from typing import TYPE_CHECKING, Any, Literal

from samekind.reports.style import FAINT, INK, LARGE, MUTED, SIZE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.colors import Colormap as Colormap
    from matplotlib.figure import Figure as Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation as Annotation
    from matplotlib.text import Text as Text
else:  # names for signatures: matplotlib is imported when the first figure is drawn
    Annotation = Axes = Colormap = Figure = Legend = Text = Any


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in inches, with a transparent background."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="none")


def dress(
    axes: Axes, *, title: str = "", x: str = "", y: str = "", grid: Literal["x", "y", "both"] | None = "y"
) -> None:
    """Quiet frame, ticks and grid for a panel; ``grid`` is x, y, both, or None for none."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=MUTED, linewidth=0.6)
    axes.set_facecolor("none")
    axes.tick_params(which="both", length=0, pad=5, labelsize=SMALL, labelcolor=MUTED)
    if grid is not None:
        axes.grid(True, axis=grid, color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
    axes.set_title(plain(title), loc="left", fontsize=LARGE, color=INK, pad=9)
    axes.set_xlabel(x, fontsize=SIZE, color=MUTED, labelpad=6)
    axes.set_ylabel(y, fontsize=SIZE, color=MUTED, labelpad=6)


def legend(axes: Axes, *, columns: int = 1, gap: float = 36.0) -> Legend:
    """A legend without a frame below a panel, ``gap`` points below its axis."""
    from matplotlib.transforms import ScaledTranslation

    figure = axes.get_figure(root=True)
    assert figure is not None
    lower = axes.transAxes + ScaledTranslation(0, -gap / 72, figure.dpi_scale_trans)
    return axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=lower,
        ncols=columns,
        fontsize=SMALL,
        labelcolor=INK,
        frameon=False,
        handlelength=2.4,
        labelspacing=0.45,
        borderaxespad=0.0,
        borderpad=0.0,
    )


def write(
    axes: Axes,
    at: tuple[float, float],
    text: str,
    *,
    colour: str = INK,
    size: float = SIZE,
    across: str = "center",
    up: str = "center",
) -> Text:
    """Words at a point of the data; ``across`` and ``up`` say which of their sides is on it."""
    return axes.text(*at, plain(text), color=colour, fontsize=size, ha=across, va=up)


def plain(text: str) -> str:
    """A text for matplotlib, with dollar signs escaped, which would start a formula."""
    return text.replace("$", r"\$")
