"""Certified accuracy: the share of items that no change within a radius can make wrong, by the radius."""

from collections.abc import Mapping

from samekind.evaluation.smoothing import Certified
from samekind.reports.panels import Figure
from samekind.reports.robustness_curves import Line, robustness_curves

#: Points of a curve.
POINTS = 24


def certified_curve(answers: Mapping[str, Certified]) -> Figure:
    """One line for each name over the radius, up to the largest of any item, with 95 % intervals as a band.
    The axis says how large a radius can be with so many draws. Without any answer it is a ``ValueError``.
    """
    largest = max((float(answer.radii.max()) for answer in answers.values()), default=0.0)
    radii = [(largest or 1.0) * place / POINTS for place in range(POINTS + 1)]
    lines = {
        name: Line(radii, *zip(*(answer.accuracy(radius) for radius in radii), strict=True))
        for name, answer in answers.items()
    }
    possible = max((answer.largest for answer in answers.values()), default=0.0)
    limit = f"radius (l2); with so many draws {possible:.3g} at most"
    return robustness_curves(lines, x=limit, y="certified accuracy, %")
