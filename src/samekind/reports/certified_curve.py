"""Certified accuracy: what is sure to remain right as items may be moved further."""

from collections.abc import Mapping

from samekind.evaluation.smoothing import Certified
from samekind.reports.panels import Figure
from samekind.reports.robustness_curves import Line, robustness_curves

#: Points of a curve.
POINTS = 24


def certified_curve(answers: Mapping[str, Certified]) -> Figure:
    """One named line each over the radius, to the largest that any item has, with 95 % intervals as a band.
    No answer at all is a ``ValueError``.
    """
    largest = max((float(answer.radii.max()) for answer in answers.values()), default=0.0)
    radii = [(largest or 1.0) * place / POINTS for place in range(POINTS + 1)]
    lines = {
        name: Line(radii, *zip(*(answer.accuracy(radius) for radius in radii), strict=True))
        for name, answer in answers.items()
    }
    return robustness_curves(lines, x="radius (l2)", y="certified accuracy, %")
