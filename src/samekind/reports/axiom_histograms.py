"""Is it a metric? Histograms of the breaches of the three axioms."""

import numpy as np

from samekind.measures import MetricAxioms
from samekind.reports.panels import Figure, dress, new_figure, write
from samekind.reports.style import BLUE, FULL

#: Where the columns start: half a case.
LEAST = 0.5
TITLES = {
    "self_distance": ("From an item to itself", "D(a, a)"),
    "asymmetry": ("There and back differ by", "|D(a, b) - D(b, a)|"),
    "triangle": ("A detour is shorter by", "max(0, D(b, c) - D(a, b) - D(a, c))"),
}


def axiom_histograms(axioms: MetricAxioms) -> Figure:
    """How many self-distances, asymmetries and triangle breaches there are of each size, with mean and most.

    For a metric all three are a single column at 0, so 0 is shown even where nothing comes near it. The
    counts have a logarithmic scale: one case in a million can be seen.
    """
    figure = new_figure(FULL, 3.1)
    for axes, name in zip(figure.subplots(1, 3, gridspec_kw={"wspace": 0.08}), TITLES, strict=True):
        breaches = getattr(axioms, name)
        title, label = TITLES[name]
        dress(axes, title=title, x=label, y="cases" if name == "self_distance" else "")
        edges = breaches.edges.numpy()
        counts = (breaches.density.numpy() * np.diff(edges) * breaches.cases).round()
        # Half a case, below which nothing is: 0 has no place on this scale.
        columns = np.maximum(counts, LEAST)
        axes.stairs(columns, edges, baseline=LEAST, fill=True, color=BLUE, alpha=0.25, linewidth=0)
        axes.stairs(columns, edges, baseline=LEAST, color=BLUE, linewidth=1.2)
        axes.set_yscale("log")
        # With room for the words.
        axes.set_ylim(LEAST, LEAST * (columns.max() / LEAST) ** 1.45)
        digits = len(f"{columns.max():.0f}")
        ticks = [10**power for power in range(0, digits, 1 + digits // 5)]
        axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlim(left=min(0.0, edges[0]))
        axes.locator_params(axis="x", nbins=5)
        values = (("mean", breaches.mean), ("median", breaches.median), ("most", breaches.most))
        lines = [*(f"{word} {value:.3g}" for word, value in values), f"{breaches.cases:,} cases"]
        note = write(axes, (0.97, 0.97), "\n".join(lines), across="right", up="top")
        note.set_transform(axes.transAxes)
    return figure
