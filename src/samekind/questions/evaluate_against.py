"""By how much is one space better than another, on the same test items?"""

from dataclasses import dataclass
from typing import Any

from samekind import evaluation
from samekind.data import Sets
from samekind.errors import DataError
from samekind.evaluation import Compared
from samekind.questions.evaluate import EvaluationSettings, cautions, drawn
from samekind.space import MetricSpace


@dataclass(frozen=True)
class Differences:
    """The rows of two spaces of these names: the first less the second, and what to know of them."""

    names: tuple[str, str]
    rows: tuple[Compared, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"differences": [row._asdict() for row in self.rows], "warnings": self.warnings}


def evaluate_against(
    spaces: tuple[MetricSpace, MetricSpace],
    sets: tuple[Sets, Sets],
    settings: EvaluationSettings,
    *,
    names: tuple[str, str],
) -> Differences:
    """Compare two spaces on the test sets of their runs, which must be the same."""
    tests, others = (drawn(part.tests(), settings) for part in sets)
    prints = [{name: items.fingerprint() for name, items in part.items()} for part in (tests, others)]
    if prints[0] != prints[1]:
        raise DataError(
            f"{names[0]} and {names[1]} were not tested on the same items, so their answers cannot be "
            "paired; train both on the same data with the same split"
        )
    rows = evaluation.against(
        *spaces,
        tests,
        tasks=settings.tasks,
        way=settings.way,
        shots=settings.shots,
        ranks=settings.ranks,
        measures=settings.measures,
        seed=settings.seed,
    )
    warnings = dict.fromkeys(sentence for part in sets for sentence in cautions(part))
    missing = [
        *evaluation.left_out(rows, settings.ranks),
        *evaluation.missing_shots(rows, tests, settings.shots),
    ]
    return Differences(names, tuple(rows), (*warnings, *missing))
