"""A progress bar at a terminal: of a training, or of any other long work."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from samekind.cli.output import messages, print_messages

if TYPE_CHECKING:
    from samekind.questions.progress import Advance
    from samekind.questions.train import TrainingReports


@contextmanager
def bar(title: str, total: int) -> "Iterator[Advance]":
    """A progress bar on the standard error, removed at the end; nothing where there is no terminal."""
    with _shown_on(messages()) as progress:
        task = progress.add_task(title, total=total, status="")
        yield lambda count: progress.advance(task, count)


def training_reports(tell: Callable[[str], None] = print_messages) -> "TrainingReports":
    """Warnings on the standard error, a bar for a training; ``tell`` prints what the training says."""
    from samekind.questions.train import TrainingReports

    return TrainingReports(print_messages, tell, _watcher)


def _watcher(title: str, note: str) -> "Bar":
    """A bar for a training. Rungs of the house recipe have a line each: of their epochs a person sees the two
    measures that rungs are kept by.
    """
    from samekind.questions.train import HOUSE

    if title == HOUSE:
        return Bar(messages(), title=title, note=note, shown=("eer", "recall@1"), pause=10.0)
    return Bar(messages(), title=title, note=note)


class Bar:
    """Watches a training: a progress bar with loss, measures, items per second and time left; without a
    terminal a plain line an epoch, and none within ``pause`` seconds of the one before. ``note`` is printed
    before the first step. ``shown`` names the measures to show, where there are such; by default all.
    """

    def __init__(
        self,
        console: Console,
        *,
        title: str,
        note: str = "",
        shown: Sequence[str] | None = None,
        pause: float = 0.0,
    ) -> None:
        self.console = console
        self.title = title
        self.note = note
        self.shown = shown
        self.pause = pause
        self.last_line = time.monotonic()
        self.measures = ""
        self.progress = _shown_on(console)
        self.task = self.progress.add_task(title, total=None, status="")

    def begin(self, *, steps: int, done: int) -> None:
        if self.note and done < steps:
            self._say(self.note)
            self.note = ""
        self.progress.start()
        self.progress.update(self.task, total=steps, completed=done)

    def step(self, *, loss: float, items_per_second: float) -> None:
        status = f"loss {loss:.3f} {self.measures} {items_per_second:,.0f} items/s"
        self.progress.update(self.task, advance=1, status=status)

    def epoch(self, entry: dict[str, Any]) -> None:
        from samekind.measures.catalogue import write_epoch

        measures = entry["validation"]
        shown = measures if self.shown is None else [key for key in self.shown if key in measures]
        self.measures = " ".join(write_epoch(key, measures[key]) for key in shown)
        if not self.console.is_terminal and time.monotonic() - self.last_line >= self.pause:
            self.last_line = time.monotonic()
            speed = f"{entry['items_per_second']:,.0f} items/s"
            self._say(f"epoch {entry['epoch']} loss {entry['loss']:.3f} {self.measures} {speed}")
        if "trouble" in entry:
            self._say(f"careful: after epoch {entry['epoch']} {entry['trouble']}")

    def end(self) -> None:
        self.progress.stop()

    def _say(self, sentence: str) -> None:
        self.console.print(f"{self.title}: {sentence}", markup=False, highlight=False, soft_wrap=True)


def _shown_on(console: Console) -> Progress:
    """The bar of a console: title, bar, count, status and time left."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[status]}", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
