"""The style of all figures: one palette, thin lines, muted text.

The colours are those of Okabe and Ito, "Color Universal Design", 2008, which colour-blind readers can tell
apart; no figure relies on colour alone. Everything is set on the artists, so matplotlib settings do not
change a report.
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

INK, MUTED, FAINT, PAPER = "#1c2733", "#66727e", "#e3e7eb", "#ffffff"
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, BLACK = "#e69f00", "#56b4e9", "#3b4652"
INDIGO, BROWN, SAND = "#332288", "#661100", "#ddcc77"

#: What a colour means, wherever pairs or answers are shown.
SAME, DIFFERENT = BLUE, VERMILION
RIGHT, WRONG = GREEN, VERMILION

SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
#: For dots of many classes. The last three are Tol's, "Colour Schemes", 2012, chosen so that no two of the
#: ten are harder to tell apart for a colour-blind reader than two of the seven.
MANY = (*SERIES, INDIGO, BROWN, SAND)
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.4)), (0, (7, 2, 1.5, 2)))

#: Points of text: labels, ticks and notes, the words over a panel.
SIZE, SMALL, LARGE = 9.0, 8.0, 10.0

#: Inches: a figure that has the page to itself, one beside its caption, one of two side by side.
FULL, BESIDE, HALF = 10.5, 7.0, 5.1


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure in inches, with a transparent background."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="none")


def dress(
    axes: "Axes", *, title: str = "", x: str = "", y: str = "", grid: Literal["x", "y", "both"] | None = "y"
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


def legend(axes: "Axes", *, columns: int = 1, gap: float = 36.0) -> "Legend":
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
    axes: "Axes",
    at: tuple[float, float],
    text: str,
    *,
    colour: str = INK,
    size: float = SIZE,
    across: str = "center",
    up: str = "center",
) -> "Text":
    """Words at a point of the data; ``across`` and ``up`` say which of their sides is on it."""
    return axes.text(*at, plain(text), color=colour, fontsize=size, ha=across, va=up)


def plain(text: str) -> str:
    """A text for matplotlib, with dollar signs escaped, which would start a formula."""
    return text.replace("$", r"\$")
