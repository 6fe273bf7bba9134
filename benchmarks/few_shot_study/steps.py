"""What a step does to the space, softmax against DR: tables 3 to 10 of the paper."""

import math
from collections.abc import Sequence

from cases import COMPARED, PAPER, Case, Content
from grids.tables import markdown
from published import MEANS, SHARES

from samekind.measures.geometry import DYNAMICS, PROPER, CheckpointComparison, compare_checkpoints


def steps(cases: Sequence[Case]) -> str:
    """Geometric means and proper shares over checkpoints, with the tests between DR and softmax."""
    means = [row for case in cases for row in _means(case)]
    shares = [row for case in cases for row in _shares(case)]
    paper = PAPER if cases[0].paper(MEANS) else ()
    heading = ("network", "shots", "measure", *COMPARED)
    return (
        "Geometric means over checkpoints, and the p-value of the Mann-Whitney test on them, the largest of "
        f"all seeds:\n\n{markdown((*heading, 'p', *paper), means)}\n\n"
        "The share of checkpoints that did what they should, and the p-value of Fisher's test on the counts, "
        f"the largest of all seeds:\n\n{markdown((*heading, 'p', *paper), shares)}"
    )


def _means(case: Case) -> list[list[str]]:
    paper = case.paper(MEANS)
    rows = []
    for place, name in enumerate(DYNAMICS):
        cells = case.cells(lambda content, name=name: geometric(numbers(content, name)), digits=4)
        largest = _largest([answer.mann_whitney for answer in _tests(case, name)])
        published = [f"{values[place]:.4f}" for values in paper]
        rows.append([*case.about, name.replace("_", "-"), *cells, largest, *published])
    return rows


def _shares(case: Case) -> list[list[str]]:
    paper = case.paper(SHARES)
    rows = []
    for place, (name, side) in enumerate((name, side) for name, side in PROPER.items() if side is not None):
        cells = case.cells(lambda content, name=name: proper(numbers(content, name), PROPER[name]))
        largest = _largest([answer.fisher or 0.0 for answer in _tests(case, name)])
        published = [f"{values[place]:.2f}" for values in paper]
        rows.append([*case.about, f"{name.replace('_', '-')} {side}", *cells, largest, *published])
    return rows


def _tests(case: Case, name: str) -> list[CheckpointComparison]:
    """DR against softmax, seed by seed."""
    return [
        compare_checkpoints(*(numbers(content, name) for content in pair), proper=PROPER[name])
        for pair in case.pairs()
    ]


def _largest(p_values: Sequence[float]) -> str:
    if not p_values:
        return ""
    return f"{max(p_values):.1e}" if max(p_values) < 1e-3 else f"{max(p_values):.3f}"


def numbers(content: Content, name: str) -> list[float]:
    """What was measured at the checkpoints, without what is undefined."""
    return [value for value in content["checkpoints"][name] if value > 0]


def geometric(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def proper(values: Sequence[float], side: str | None) -> float:
    """The share of values on the proper side of 1."""
    return sum(value < 1 if side == "below 1" else value > 1 for value in values) / len(values)
