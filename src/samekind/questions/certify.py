"""What is sure to remain right, whatever somebody does to the items?"""

from samekind.data import Items
from samekind.decisions import Head
from samekind.evaluation.smoothing import Certified, Smoothing
from samekind.evaluation.smoothing import certify as measured
from samekind.space import MetricSpace


def certify(
    space: MetricSpace, items: Items, smoothing: Smoothing, *, head: Head = "similarity", limit: int = 100
) -> Certified:
    """The certified radii of at most ``limit`` items, by randomised smoothing."""
    return measured(space, items, smoothing, head=head, most=limit)
