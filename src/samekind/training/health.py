"""Does a training learn anything? Embeddings without spread, a loss that does not fall, a measure at chance,
or worse than before the first step: each is a sentence that says what to change.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from samekind.measures.catalogue import EER, write_epoch
from samekind.training.run import Run

#: Below this share of their squared length, embeddings differ too little to be told apart.
NO_SPREAD = 1e-4
#: An equal error rate near that of a coin.
AT_CHANCE = 0.45
#: After so many epochs the loss must have fallen by this share, or the measure be better than at the start.
EPOCHS, FALLEN = 2, 0.02
#: In fewer steps, some of them a warm-up, a loss need not fall.
STEPS = 50


class Trouble(NamedTuple):
    """A problem in words, and whether the training has collapsed."""

    sentence: str
    collapsed: bool


def spread_of(z: Tensor) -> float:
    """How much embeddings (n, d) differ: the mean squared distance from their mean, as a share of their mean
    squared length. 0 if all are equal, 1 if their mean is 0.

    >>> import torch
    >>> spread_of(torch.ones(3, 2)), spread_of(torch.eye(2))
    (0.0, 0.5)
    """
    z = z.detach().float()
    length = z.square().sum(1).mean()
    if not float(length):
        return 0.0
    return float((z - z.mean(0)).square().sum(1).mean() / length)


def trouble(
    run: Run, entry: Mapping[str, Any], before: Sequence[Mapping[str, Any]], *, spread: float
) -> Trouble | None:
    """What is wrong after an epoch, given its entry in the record, those before it and the spread of the
    embeddings of its last batch; None if all is well. The first entry has the measures of the untrained
    start.
    """
    advice = _advice(run)
    if spread < NO_SPREAD:
        return Trouble(
            f"all embeddings are nearly equal (spread {spread:.1g} of their squared length); {advice}", True
        )
    if entry["epoch"] < EPOCHS:
        return None
    lines = [*before, entry]
    start = lines[0].get("untrained", {})
    error = entry["validation"].get(EER.key)
    if error is not None and error >= AT_CHANCE > start.get(EER.key, 1.0):
        return Trouble(f"an equal error of {error:.1%} is that of a coin; {advice}", True)
    if is_better(run, start, entry["validation"]):
        return None
    if entry["step"] >= STEPS and entry["loss"] > (1 - FALLEN) * lines[0]["loss"]:
        losses = f"{lines[0]['loss']:.3g} in the first epoch and {entry['loss']:.3g} now"
        return Trouble(f"the loss does not fall: it was {losses}; {advice}", True)
    if _is_much_worse(run, start, entry["validation"]):
        return Trouble(f"{_not_better(run, start, entry['validation'])}; {advice}", False)
    return None


def verdict(run: Run, lines: Sequence[Mapping[str, Any]]) -> str | None:
    """A sentence if the kept epoch is not better than the recorded untrained start, else None."""
    start = lines[0].get("untrained", {}) if lines else {}
    best = next((entry for entry in reversed(lines) if entry["best"]), None)
    if best is None or run.watch not in start or is_better(run, start, best["validation"]):
        return None
    return f"{_not_better(run, start, best['validation'])}; do not use this space: {_advice(run)}"


def is_better(run: Run, start: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether the watched measure is better than at the start, or as good as it can be; true if unknown."""
    if run.watch not in start or run.watch not in now:
        return True
    one, other = now[run.watch], start[run.watch]
    return one < other or one == 0 if run.direction == "lower" else one > other or one == 1


def _is_much_worse(run: Run, start: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether the errors are a fifth more than at the start, and two points."""
    errors = [measures[run.watch] for measures in (start, now)]
    if run.direction == "higher":
        errors = [1 - share for share in errors]
    return errors[1] > 1.2 * errors[0] + 0.02


def _not_better(run: Run, start: Mapping[str, float], now: Mapping[str, float]) -> str:
    return (
        f"training does not pay: validation {write_epoch(run.watch, now[run.watch])} is not better than "
        f"{write_epoch(run.watch, start[run.watch])} before the first step"
    )


def _advice(run: Run) -> str:
    rate = run.optimiser.rate
    return f"lower the rate (optimiser.rate={rate / 10:g}, it is {rate:g}), or train without a recipe"
