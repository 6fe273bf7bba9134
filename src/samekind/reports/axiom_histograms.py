"""Is it a metric? The three promises of one, and how far a space is from keeping each."""

from typing import TYPE_CHECKING

from samekind.measures import MetricAxioms
from samekind.reports.style import BLUE, FULL, dress, new_figure, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "self_distance": ("From an item to itself", "D(a, a)"),
    "asymmetry": ("There less back", "|D(a, b) - D(b, a)|"),
    "triangle": ("Shorter by a detour", "D(b, c) - D(a, b) - D(a, c), where above 0"),
}


def axiom_histograms(axioms: MetricAxioms) -> "Figure":
    """Densities of self-distances, asymmetries and triangle breaches, side by side, with mean and most.

    For a metric all three are a single column at 0, so 0 is shown even where nothing comes near it.
    """
    figure = new_figure(FULL, 2.9)
    for axes, name in zip(figure.subplots(1, 3, gridspec_kw={"wspace": 0.08}), TITLES, strict=True):
        found = getattr(axioms, name)
        title, label = TITLES[name]
        dress(axes, title=title, x=label, grid=None)
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
        density, edges = found.density.numpy(), found.edges.numpy()
        axes.stairs(density, edges, fill=True, color=BLUE, alpha=0.25, linewidth=0)
        axes.stairs(density, edges, color=BLUE, linewidth=1.2)
        axes.set_xlim(left=min(0.0, edges[0]))
        axes.locator_params(axis="x", nbins=5)
        words = (
            f"mean {found.mean:.3g}\nmedian {found.median:.3g}\nmost {found.most:.3g}\n{found.cases:,} cases"
        )
        note = write(axes, (0.97, 0.97), words, across="right", up="top")
        note.set_transform(axes.transAxes)
    return figure
