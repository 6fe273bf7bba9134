"""Plots and the one-page report of a run.

A plot is a function from plain values to a matplotlib ``Figure``, which `write_figure` writes to a file.
matplotlib is imported when the first figure is drawn, and its global state is left alone.
"""

from samekind.reports.attention_maps import Overlay, attention_maps
from samekind.reports.axiom_histograms import axiom_histograms
from samekind.reports.certified_curve import certified_curve
from samekind.reports.confidence import Confidence
from samekind.reports.confidence_map import confidence_map
from samekind.reports.confusion_matrix import confusion_matrix
from samekind.reports.dynamics_curves import dynamics_curves
from samekind.reports.embedding_map import embedding_map
from samekind.reports.error_tradeoff import error_tradeoff
from samekind.reports.figure_file import write_figure
from samekind.reports.gradient_field import Field, gradient_field, measure_field
from samekind.reports.groups_page import Grouped, write_groups_page
from samekind.reports.measured import System
from samekind.reports.neighbour_grid import neighbour_grid
from samekind.reports.opening import lines_section, pictures_section
from samekind.reports.plane import plane
from samekind.reports.report import write_report
from samekind.reports.representation_bars import representation_bars
from samekind.reports.representation_curves import representation_curves
from samekind.reports.robustness_curves import robustness_curves
from samekind.reports.robustness_page import write_robustness_page
from samekind.reports.score_histogram import score_histogram
from samekind.reports.training_curves import training_curves
from samekind.reports.tree_picture import tree_picture
from samekind.reports.voronoi_regions import voronoi_regions

__all__ = [
    "Confidence",
    "Field",
    "Grouped",
    "Overlay",
    "System",
    "attention_maps",
    "axiom_histograms",
    "certified_curve",
    "confidence_map",
    "confusion_matrix",
    "dynamics_curves",
    "embedding_map",
    "error_tradeoff",
    "gradient_field",
    "lines_section",
    "measure_field",
    "neighbour_grid",
    "pictures_section",
    "plane",
    "representation_bars",
    "representation_curves",
    "robustness_curves",
    "score_histogram",
    "training_curves",
    "tree_picture",
    "voronoi_regions",
    "write_figure",
    "write_groups_page",
    "write_report",
    "write_robustness_page",
]
