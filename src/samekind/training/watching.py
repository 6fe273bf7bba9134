"""Watchers of a run: the contract, and one that watches nothing."""

from typing import Any, Protocol


class Watcher(Protocol):
    """Called at the beginning, at every step, at every epoch and at the end of a training."""

    def begin(self, *, steps: int, done: int) -> None: ...

    def step(self, *, loss: float, items_per_second: float) -> None: ...

    def epoch(self, entry: dict[str, Any]) -> None: ...

    def end(self) -> None: ...


class Nobody:
    """Watches nothing."""

    def begin(self, *, steps: int, done: int) -> None: ...

    def step(self, *, loss: float, items_per_second: float) -> None: ...

    def epoch(self, entry: dict[str, Any]) -> None: ...

    def end(self) -> None: ...
