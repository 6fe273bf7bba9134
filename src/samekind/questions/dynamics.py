"""Which of two runs took the better steps?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind.data.words import counted
from samekind.errors import DataError
from samekind.measures.geometry import DYNAMICS, PROPER, CheckpointComparison, compare_checkpoints
from samekind.reports import dynamics_curves, write_figure
from samekind.training import RunFolder
from samekind.training.run_folder import NO_FOLDER

NO_DYNAMICS = (
    "{name} has no record of its dynamics; train it with dynamics=100 (samekind train --set dynamics=100) to "
    "record every hundredth step"
)
NOTE = "steps of one run depend on each other, so the p-values are smaller than they should be"


@dataclass(frozen=True)
class Steps:
    """The recorded steps of a run, and for each of `DYNAMICS` its values, None where it was undefined."""

    name: str
    steps: tuple[int, ...]
    values: Mapping[str, tuple[float | None, ...]]

    def defined(self, measure: str) -> list[float]:
        """The values that a step has; a factor of 0 or less says nothing."""
        return [value for value in self.values[measure] if value is not None and value > 0]


@dataclass(frozen=True)
class ComparedDynamics:
    """Two runs by each of `DYNAMICS`: geometric means, shares of proper steps, p-values of the tests of
    Mann and Whitney and of Fisher. ``steps`` is how many steps each has.
    """

    names: tuple[str, str]
    steps: tuple[int, int]
    measures: Mapping[str, CheckpointComparison]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "runs": list(self.names),
            "steps": list(self.steps),
            "measures": {name: compared._asdict() for name, compared in self.measures.items()},
            "note": NOTE,
            "warnings": list(self.warnings),
        }


def recorded_steps(name: str, record: Sequence[Mapping[str, Any]]) -> Steps:
    """The dynamics in the record of a run (`training.Record.lines`). Raises DataError if there are none, or
    if they are not as a run writes them.
    """
    entries = [line["dynamics"] for line in record if "dynamics" in line]
    if not entries:
        raise DataError(NO_DYNAMICS.format(name=name))
    columns: dict[str, list[Any]] = {key: [] for key in ("steps", *DYNAMICS)}
    for entry in entries:
        if not _is_sound(entry):
            raise DataError(f"{name}: its record of dynamics is damaged; train the run again")
        for key, column in columns.items():
            column += entry[key]
    steps = tuple(columns.pop("steps"))
    return Steps(name, steps, {key: tuple(column) for key, column in columns.items()})


def steps_in(folder: Path) -> Steps:
    """The dynamics of the run in a folder, under the folder's name."""
    if not folder.is_dir():
        raise DataError(NO_FOLDER.format(folder=folder))
    return recorded_steps(str(folder), RunFolder(folder).record.lines())


def draw_dynamics(path: Path, runs: Sequence[Steps]) -> None:
    """Draw the measures of runs over their steps: .svg, .png or .pdf."""
    curves = {run.name: (run.steps, run.values) for run in runs}
    write_figure(lambda: dynamics_curves(curves), path)


def dynamics(first: Steps, second: Steps) -> ComparedDynamics:
    """Compare two runs. Raises DataError if a measure is undefined in all steps of one."""
    measures, warnings = {}, []
    for measure in DYNAMICS:
        defined = []
        for run in (first, second):
            values = run.defined(measure)
            missing = len(run.steps) - len(values)
            if not values:
                raise DataError(
                    f"{run.name}: the {in_words(measure)} is undefined in all of its steps; batches need two "
                    "classes or more with two items or more, and weights that move"
                )
            if missing:
                of_all = f"{missing:,} of {counted(len(run.steps), 'step', 'steps')}"
                warnings.append(f"{run.name}: the {in_words(measure)} is undefined in {of_all}, left out")
            defined.append(values)
        measures[measure] = compare_checkpoints(*defined, proper=PROPER[measure])
    return ComparedDynamics(
        (first.name, second.name), (len(first.steps), len(second.steps)), measures, tuple(warnings)
    )


def in_words(measure: str) -> str:
    """The name of one of `DYNAMICS` for people.

    >>> in_words("norm_ratio"), in_words("con_alpha")
    ('norm ratio', 'con-alpha')
    """
    return measure.replace("_", " " if measure == "norm_ratio" else "-")


def _is_sound(entry: Any) -> bool:
    """Whether an entry has lists of one length, with whole steps and numbers or None."""
    columns = [entry.get(key) for key in ("steps", *DYNAMICS)] if isinstance(entry, Mapping) else [None]
    lists = [column for column in columns if isinstance(column, list)]
    if len(lists) < len(columns) or len({len(column) for column in lists}) > 1:
        return False
    steps, *values = lists
    return all(type(step) is int for step in steps) and all(
        value is None or type(value) in (int, float) for column in values for value in column
    )
