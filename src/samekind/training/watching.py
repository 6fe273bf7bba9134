"""Watchers of a run: none, or a progress bar at a terminal."""

from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from samekind.measures.catalogue import write_epoch


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


class Bar:
    """A progress bar with loss, measures, items per second and time left; without a terminal plain lines.

    ``note`` is printed before the first step.
    """

    def __init__(self, console: Console, *, title: str, note: str = "") -> None:
        self.console = console
        self.title = title
        self.note = note
        self.measures = ""
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}", markup=False),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.progress.add_task(title, total=None, status="")

    def begin(self, *, steps: int, done: int) -> None:
        if self.note and done < steps:
            self.console.print(f"{self.title}: {self.note}", markup=False, highlight=False, soft_wrap=True)
            self.note = ""
        self.progress.start()
        self.progress.update(self.task, total=steps, completed=done)

    def step(self, *, loss: float, items_per_second: float) -> None:
        status = f"loss {loss:.3f} {self.measures} {items_per_second:,.0f} items/s"
        self.progress.update(self.task, advance=1, status=status)

    def epoch(self, entry: dict[str, Any]) -> None:
        self.measures = " ".join(write_epoch(key, value) for key, value in entry["validation"].items())
        if not self.console.is_terminal:
            self.console.print(
                f"{self.title}: epoch {entry['epoch']} loss {entry['loss']:.3f} {self.measures} "
                f"{entry['items_per_second']:,.0f} items/s",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )

    def end(self) -> None:
        self.progress.stop()
