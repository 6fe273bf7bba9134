"""Which answers can no attack within a radius change?"""

from pathlib import Path

from samekind.data import Items
from samekind.evaluation.smoothing import Certified, Smoothing
from samekind.evaluation.smoothing import certify as measured
from samekind.questions.reading import known_head
from samekind.reports import certified_curve, write_figure
from samekind.space import MetricSpace

__all__ = ["Certified", "Smoothing", "certify", "draw_certified"]


def certify(
    space: MetricSpace, items: Items, smoothing: Smoothing, *, head: str = "similarity", limit: int = 100
) -> Certified:
    """The certified radii of at most ``limit`` items, by randomised smoothing."""
    return measured(space, items, smoothing, head=known_head(space, head), most=limit)


def draw_certified(path: Path, answer: Certified, *, name: str) -> None:
    """Draw the certified accuracy over the radius: .svg, .png or .pdf."""
    write_figure(lambda: certified_curve({name: answer}), path)
