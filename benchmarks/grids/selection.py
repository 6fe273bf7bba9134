"""One training that keeps an epoch for every kind of score: each is judged where validation found it best."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from samekind.data import Sets
from samekind.evaluation import Row, validation
from samekind.evaluation.cosine_references import CENTRED, NORMALISED
from samekind.space import MetricSpace
from samekind.training import Run, train


class BestEpoch(NamedTuple):
    """The epoch that is best for a kind of score: its number, what validation said, and the weights then."""

    epoch: int
    value: float
    weights: dict[str, Tensor]


def train_for_each(
    run: Run, sets: Sets, *, folder: Path, device: str, measure: str = "recall@1"
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

    space = train(run, sets.train, folder=folder, validate=validate_and_keep, device=device)
    return space.to(device), best


def rows_of_each(
    space: MetricSpace, best: dict[str, BestEpoch], about: Callable[[MetricSpace], Iterable[Row]]
) -> list[Row]:
    """The rows about every kind of score, at the epoch that is kept for it. Those about embeddings as such
    and those of better cosines go with the cosine, or, where a space has none beside it, with its own score.
    """
    by_epoch: dict[int, list[str]] = {}
    for kind, choice in best.items():
        by_epoch.setdefault(choice.epoch, []).append(kind)
    rows: list[Row] = []
    for kinds in by_epoch.values():
        space.load_state_dict(best[kinds[0]].weights)
        also = (
            ["embedding", CENTRED, NORMALISED]
            if ("cosine" if "cosine" in best else "similarity") in kinds
            else []
        )
        rows += [row for row in about(space) if row.kind in (*kinds, *also)]
    return rows


def told(best: dict[str, BestEpoch]) -> dict[str, dict[str, Any]]:
    """What a JSON says of the epochs, by kind of score."""
    return {kind: {"epoch": choice.epoch, "value": choice.value} for kind, choice in best.items()}


def _copied(space: MetricSpace) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().clone() for name, tensor in space.state_dict().items()}
