"""Which scores mean "same"? Thresholds and temperatures, fitted on held-out items."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from samekind.data import Items, TrialList, draw, read_trial_list
from samekind.data.groups import groups_apart
from samekind.decisions import Decision, Kind, Temperature
from samekind.errors import DataError
from samekind.evaluation.listed_trials import scored
from samekind.inference import (
    all_trials,
    embed_files,
    fit_decision,
    fit_levels,
    fit_open_set,
    fit_temperatures,
)
from samekind.inference.known_classes import divided
from samekind.inference.points import operating_point, support
from samekind.inference.temperatures import FEWEST
from samekind.pairs import has_pairs
from samekind.questions.progress import Progress, silent
from samekind.questions.reading import embedded, known_kind
from samekind.settings import PAIRED_ITEMS
from samekind.space import MetricSpace

OPEN_SET = "open set"

TOO_FEW = (
    "careful (class probabilities): {known} of the items are of classes this space knows, and a temperature "
    "takes {fewest}; the probabilities stay as they were"
)


@dataclass(frozen=True)
class Calibrated:
    """Thresholds by the name of their score, and temperatures by head. ``note`` says why none was fitted."""

    decisions: dict[str, Decision]
    temperatures: dict[str, Temperature] = field(default_factory=dict)
    note: str | None = None

    def warning(self, name: str) -> str | None:
        """Warnings about a threshold."""
        return support(self.decisions[name], open_set=name == OPEN_SET)

    def to_json(self) -> dict[str, Any]:
        return {
            "decisions": {
                name: {**asdict(decision), "warning": self.warning(name)}
                for name, decision in self.decisions.items()
            },
            "temperatures": {head: asdict(fitted) for head, fitted in self.temperatures.items()},
        }


def calibrate(
    space: MetricSpace,
    items: Items,
    *,
    kind: str | None = None,
    point: str = "eer",
    limit: int = PAIRED_ITEMS,
    seed: int = 0,
    progress: Progress = silent,
) -> Calibrated:
    """Fit the threshold of one kind of score, or of all of them and the temperatures of the heads as well,
    on the pairs of at most ``limit`` items; the space keeps them.
    """
    if len(items) > limit:
        name = f"{limit:,} items drawn from {items.name}"
        items = replace(draw(items, most=limit, seed=seed), name=name)
    _expect_pairs(items)
    z = embedded(space, items.inputs, title="calibrate", progress=progress)
    apart = groups_apart(items)
    decisions: dict[str, Decision] = {
        score: fit_decision(
            all_trials(space, z, items.labels, groups=apart.groups, kind=score),
            kind=score,
            point=point,
            description=apart.named(items.name),
        )
        for score in _kinds(space, kind)
    }
    space.decisions.update(decisions)
    if kind is not None:
        return Calibrated(decisions)
    known = len(divided(space, items)[0])
    temperatures = fit_temperatures(space, items, z)
    space.temperatures.update(temperatures)
    space.levels = fit_levels(space, items, z) or space.levels
    note = TOO_FEW.format(known=known, fewest=FEWEST) if known < FEWEST else None
    return Calibrated(decisions, dict(temperatures), note)


def calibrate_on_trials(
    space: MetricSpace,
    trials: TrialList,
    *,
    kind: str | None = None,
    point: str = "eer",
    title: str = "trials",
) -> Calibrated:
    """Fit the thresholds of one kind of score, or of all of them, on the trials of a list, whose files are
    read as the training items were.
    """
    kinds = _kinds(space, kind)
    z = embed_files(space, trials.files)
    decisions: dict[str, Decision] = {
        score: fit_decision(scored(space, trials, z, kind=score), kind=score, point=point, description=title)
        for score in kinds
    }
    space.decisions.update(decisions)
    return Calibrated(decisions)


def calibrate_on_list(
    space: MetricSpace, path: Path, *, root: Path | None = None, kind: str | None = None, point: str = "eer"
) -> Calibrated:
    """The same for the list in a file, whose paths start from ``root``, or from its own folder."""
    listed = read_trial_list(path, root=root)
    return calibrate_on_trials(space, listed, kind=kind, point=point, title=path.name)


def calibrate_open_set(
    space: MetricSpace, items: Items, *, kind: str | None = None, point: str = "eer"
) -> Calibrated:
    """Fit the threshold for none of these, on held-out items of known and of other classes."""
    score = None if kind is None else known_kind(space, kind)
    known, unknown = divided(space, items)
    if not len(known) or not len(unknown):
        which = "only classes that" if len(known) else "no class that"
        raise DataError(
            f"{items.name} has {which} this space knows; a threshold for none of these needs held-out items "
            "of classes it knows and of others, the classes named as in the space (see samekind info)"
        )
    space.open_set = fit_open_set(space, known, unknown, kind=score, point=point)
    return Calibrated({OPEN_SET: space.open_set})


def expect_possible(space: MetricSpace, *, point: str, kind: str | None) -> None:
    """Refuse, before anything is read, an unknown operating point or a score that the space has not."""
    operating_point(point)
    _kinds(space, kind)


def _kinds(space: MetricSpace, kind: str | None) -> Sequence[Kind]:
    """One kind of score, or all that the space has."""
    return space.kinds if kind is None else [known_kind(space, kind)]


def _expect_pairs(items: Items) -> None:
    if not has_pairs(items.labels):
        raise DataError(
            f"{items.name}: expected two classes at least and two items of some class, to make pairs of one "
            f"and of two classes; got items: {len(items)}, classes: {len(set(items.labels.tolist()))}"
        )
