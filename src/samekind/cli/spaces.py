"""An open space whose messages are printed, and a progress bar."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from samekind.cli.output import messages, print_messages

if TYPE_CHECKING:
    from samekind.questions.opening import OpenSpace
    from samekind.questions.progress import Advance

TRAINING_ITEMS = (
    "careful: {data} holds this space's training items; results on them are too good. samekind evaluate "
    "without --data uses the test items of the run"
)


def open_space(folder: Path, device: str) -> "OpenSpace":
    """The space in a folder, or in that of its run; skipped files are named on the standard error."""
    from samekind.questions import opening

    return opening.open_space(folder, device, report_skipped=_name_skipped)


def _name_skipped(skipped: Sequence[tuple[str, str]]) -> None:
    reasons = "; ".join(" ".join(why.split()) for _, why in skipped)
    print_messages(f"skipped {len(skipped)}: {reasons}")


def warn_of_training_items(opened: "OpenSpace", sources: Sequence[str]) -> None:
    """Name the sources that the space was trained on: a figure about them is too good."""
    if seen := opened.trained_on(sources):
        print_messages(TRAINING_ITEMS.format(data=", ".join(seen)))


@contextmanager
def bar(title: str, total: int) -> "Iterator[Advance]":
    """A progress bar on the standard error, removed at the end; nothing where there is no terminal."""
    output = messages()
    shown = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=output,
        transient=True,
        disable=not output.is_terminal,
    )
    with shown:
        task = shown.add_task(title, total=total)
        yield lambda count: shown.advance(task, count)
