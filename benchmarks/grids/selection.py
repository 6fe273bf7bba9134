"""One training that keeps an epoch for every kind of score: each is judged where validation found it best.

`epochs_for_each` chooses the epochs by classes that are held out, `refitted` trains anew with all classes and
gives the space as it is at the chosen epochs.
"""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from samekind.data import Sets
from samekind.evaluation import Row, validation
from samekind.evaluation.cosine_references import CENTRED, NORMALISED
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Run, train

Weights = dict[str, Tensor]


class BestEpoch(NamedTuple):
    """The epoch that is best for a kind of score: its number, what validation said, and the weights then."""

    epoch: int
    value: float
    weights: Weights


def train_for_each(
    run: Run,
    sets: Sets,
    *,
    folder: Path,
    device: str,
    measure: str = "recall@1",
    start: MetricSpace | None = None,
) -> tuple[MetricSpace, dict[str, BestEpoch]]:
    """A trained space, and what to keep for each kind of its scores; of equal epochs the later is kept.

    ``measure`` is one that validation tells by kind. What is kept is in memory, so that a training must not
    be resumed: ``folder`` is a new one.
    """
    validate = validation(sets.validation, run.validate, watch=run.watch)
    best: dict[str, BestEpoch] = {}
    epochs = -1  # the first call is about the start, which is no epoch

    def validate_and_keep(space: MetricSpace) -> dict[str, float]:
        nonlocal epochs
        epochs += 1
        measures = validate(space)
        for kind in space.kinds if epochs else ():
            value = measures[f"{measure} {kind}"]
            if kind not in best or value >= best[kind].value:
                best[kind] = BestEpoch(epochs, value, _copied(space))
        return measures

    space = train(run, sets.train, folder=folder, validate=validate_and_keep, device=device, start=start)
    return space.to(device), best


def epochs_for_each(
    run: Run, sets: Sets, *, folder: Path, device: str, measure: str, start: MetricSpace | None = None
) -> dict[str, dict[str, Any]]:
    """The best epoch of each kind of score, by classes that are not trained on, and what validation said.

    What was chosen is written beside the folder, so that a grid that was stopped later does not choose again.
    """
    path = folder.with_suffix(".json")
    if path.exists():
        chosen: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return chosen
    _, best = train_for_each(run, sets, folder=folder, device=device, measure=measure, start=start)
    write_text(path, json.dumps(epochs_as_json(best)) + "\n")
    return epochs_as_json(best)


def refitted(
    run: Run,
    sets: Sets,
    epochs: Collection[int],
    *,
    folder: Path,
    device: str,
    start: MetricSpace | None = None,
) -> tuple[MetricSpace, dict[int, Weights]]:
    """The run trained as it is on all of its training items, and the weights after each of some epochs. What
    validation would say is not asked: its classes may be among the training items. Epochs after the last of
    these are left out, unless the rate depends on how many there are.
    """
    if run.schedule.name != "cosine":
        run = replace(run, epochs=max(epochs))
    weights: dict[int, Weights] = {}
    done = -1

    def keep(space: MetricSpace) -> dict[str, float]:
        nonlocal done
        done += 1
        if done in epochs:
            weights[done] = _copied(space)
        return {run.watch: float(done)}  # the last is the best: nothing chooses here

    space = train(run, sets.train, folder=folder, validate=keep, device=device, start=start)
    return space.to(device), weights


def rows_of_each(
    space: MetricSpace,
    best: dict[str, BestEpoch],
    about: Callable[[MetricSpace], Iterable[Row]],
    references: Callable[[MetricSpace], Iterable[Row]] = lambda _: (),
) -> list[Row]:
    """The rows about every kind of score, at the epoch that is kept for it. Those about embeddings as such
    and those of better cosines go with the cosine, or, where a space has none beside it, with its own score;
    ``references`` are asked for at that epoch alone.
    """
    by_epoch: dict[int, list[str]] = {}
    for kind, choice in best.items():
        by_epoch.setdefault(choice.epoch, []).append(kind)
    rows: list[Row] = []
    for kinds in by_epoch.values():
        space.load_state_dict(best[kinds[0]].weights)
        plain = ("cosine" if "cosine" in best else "similarity") in kinds
        also = ["embedding", CENTRED, NORMALISED] if plain else []
        rows += [row for row in about(space) if row.kind in (*kinds, *also)]
        rows += references(space) if plain else ()
    return rows


def epochs_as_json(best: dict[str, BestEpoch]) -> dict[str, dict[str, Any]]:
    """The best epochs for a JSON file, by kind of score."""
    return {kind: {"epoch": choice.epoch, "value": choice.value} for kind, choice in best.items()}


def _copied(space: MetricSpace) -> Weights:
    return {name: tensor.detach().cpu().clone() for name, tensor in space.state_dict().items()}
