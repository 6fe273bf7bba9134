"""A training that goes back to its start, and goes on at a lower rate, when it has collapsed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from samekind.data import Items
from samekind.space import MetricSpace
from samekind.training import Nobody, Run, RunFolder, Watcher, train
from samekind.training.loop import Validate

#: How often the rate is lowered, and what it is divided by.
ATTEMPTS, SLOWER = 2, 5.0


class CollapsedError(Exception):
    """A training of which nothing more can come."""


class _Guard:
    """Passes everything on to a watcher, and stops a training that has collapsed."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.begin, self.step, self.end = watcher.begin, watcher.step, watcher.end

    def epoch(self, entry: dict[str, Any]) -> None:
        self.watcher.epoch(entry)
        if entry.get("collapsed"):
            raise CollapsedError(entry["trouble"])


def train_recovering(
    run: Run,
    items: Items,
    *,
    folder: Path,
    validate: Validate,
    device: str = "auto",
    watcher: Watcher | None = None,
) -> MetricSpace:
    """As `train`; a training that collapses begins again at a fifth of its rates, at most twice. What became
    of the last attempt is kept, collapsed or not. The folder goes on with the rate it has come to.
    """
    place, watcher = RunFolder(folder), watcher or Nobody()
    begun = place.run() if place.last.exists() else None
    for attempt in range(ATTEMPTS + 1):
        slower = run if attempt == 0 else lowered(run, SLOWER**attempt)
        if begun is not None and begun.optimiser.rate < slower.optimiser.rate:
            continue  # that far a stopped training had come already
        last = attempt == ATTEMPTS
        try:
            return train(
                slower,
                items,
                folder=folder,
                validate=validate,
                device=device,
                watcher=watcher if last else _Guard(watcher),
            )
        except CollapsedError:
            place.start_again()
    raise AssertionError("the last attempt is not guarded")


def lowered(run: Run, factor: float) -> Run:
    """The run with all its rates divided by a factor."""
    optimiser = run.optimiser
    rates = {name: rate / factor for name, rate in optimiser.rates.items()}
    return replace(run, optimiser=replace(optimiser, rate=optimiser.rate / factor, rates=rates))
