"""What every plot of the room promises; a new one is covered by being exported and given an example here."""

import subprocess
import sys

import pytest
import torch
from matplotlib.figure import Figure

from samekind import reports
from samekind.decisions import Decision
from samekind.evaluation.smoothing import Certified, Smoothing
from samekind.inference.trials import Trials
from samekind.measures import error_rates, metric_breaches
from samekind.reports.picture import picture
from samekind.reports.representation_bars import PANELS
from samekind.reports.robustness_curves import Line
from samekind.taxonomy import Tree

NO_PLOTS = {
    "Confidence",
    "Field",
    "Grouped",
    "Overlay",
    "System",
    "lines_section",
    "measure_field",
    "pictures_section",
    "plane",
    "write_figure",
    "write_groups_page",
    "write_report",
    "write_robustness_page",
}
SCORES, SAME = torch.tensor([0.9, 0.4, 0.6, 0.1]), torch.tensor([True, True, False, False])
ENTRY = {"epoch": 1, "loss": 1.0, "terms": {"$a": 1.0, "b_^": 0.0}, "validation": {"eer": 0.0}, "best": True}
POINTS = torch.eye(2, dtype=torch.double)
# Names a formula or a tag could be made of.
AWKWARD = ["$x^", "<b>&"]

EXAMPLES = {
    "attention_maps": lambda: (torch.eye(3).expand(3, 3, 3), [reports.Overlay(*AWKWARD, torch.eye(2))]),
    "axiom_histograms": lambda: (metric_breaches(torch.arange(9.0).reshape(3, 3)),),
    "certified_curve": lambda: (
        {
            "$x^": Certified(
                "x",
                "similarity",
                Smoothing(sigma=0.5),
                "",
                torch.tensor([0.0, 0.4]),
                torch.tensor([True, True]),
            )
        },
    ),
    "confidence_map": lambda: (
        [reports.Confidence("squared"), *(reports.Confidence("ratio", n, surface="sphere") for n in (2, 3))],
    ),
    "confusion_matrix": lambda: (torch.tensor([[2, 1], [0, 3]]), AWKWARD),
    "dynamics_curves": lambda: (
        {"$x^": ((1, 2), dict.fromkeys(("norm_ratio", "con_alpha", "div_alpha", "con_div"), (0.9, None)))},
    ),
    "embedding_map": lambda: (torch.eye(4)[:, :2], torch.tensor([0, 0, 1, 1]), AWKWARD, ["<b>&"]),
    "error_tradeoff": lambda: ({"$x^": error_rates(SCORES, SAME)},),
    "gradient_field": lambda: (
        {
            "$x^\n<b>&": reports.measure_field(lambda z: z.norm(), same=POINTS, different=-POINTS),
            "circle": reports.measure_field(lambda z: z[0, 0], same=POINTS, different=-POINTS, circle=True),
        },
    ),
    "neighbour_grid": lambda: (
        torch.eye(4).reshape(4, 1, 2, 2),
        torch.tensor([0, 0, 1, 1]),
        AWKWARD,
        torch.tensor([[1, 2]]),
    ),
    "representation_bars": lambda: (AWKWARD, 2 * [dict.fromkeys(PANELS, 0.5)]),
    "representation_curves": lambda: (
        [("linf", 0.0), ("linf", 0.5)],
        2 * [dict.fromkeys(PANELS, 0.5)],
    ),
    "robustness_curves": lambda: ({"$x^": Line((0.0, 0.1), (0.9, 0.5), (0.8, 0.4), (1.0, 0.6))},),
    "score_histogram": lambda: (
        Trials(SCORES, SAME, *2 * [torch.zeros(4, dtype=torch.int32)]),
        Decision("cosine", 0.5, "eer", "x", 0.0, 0.0),
    ),
    "training_curves": lambda: ({"$x^": [ENTRY]},),
    "tree_picture": lambda: (Tree(("node 1", *AWKWARD), (-1, 0, 0)),),
    "voronoi_regions": lambda: (POINTS, torch.tensor([0, 1]), [0.5, 1.0]),
}
SETTINGS = {
    "neighbour_grid": {"queries": torch.tensor([0])},
    "robustness_curves": {"x": AWKWARD[0], "y": AWKWARD[1]},
}


@pytest.fixture(params=sorted(set(reports.__all__) - NO_PLOTS))
def plot(request):
    """A plot of its example; every call draws it anew."""
    return lambda: getattr(reports, request.param)(
        *EXAMPLES[request.param](), **SETTINGS.get(request.param, {})
    )


def test_a_plot_is_a_figure_that_can_be_drawn(plot, tmp_path):
    figure = plot()
    assert isinstance(figure, Figure)
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_a_plot_is_the_same_every_time(plot):
    one, other = (picture(plot(), name="a", description="") for _ in range(2))
    assert one.splitlines() == other.splitlines()


def test_every_name_is_what_it_says():
    for name in reports.__all__:
        assert getattr(reports, name).__name__ == name


def test_matplotlib_is_not_loaded_before_something_is_drawn():
    """It takes seconds, and a report is asked for at the end if at all."""
    script = "import sys, samekind.reports; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"
