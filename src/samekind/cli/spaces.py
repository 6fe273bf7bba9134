"""An open space with the folder of its run, the items it reads, and a progress bar."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from samekind.cli.output import messages, print_messages

if TYPE_CHECKING:
    from samekind.data import Collection, Items
    from samekind.questions.progress import Advance
    from samekind.space import MetricSpace

TRAINING_ITEMS = (
    "careful: {data} holds this space's training items; results on them are too good. samekind evaluate "
    "without --data uses the test items of the run"
)


@dataclass(frozen=True)
class OpenSpace:
    """A space and the folder, of it or of its run, that a user named."""

    space: "MetricSpace"
    folder: Path

    def read(
        self,
        sources: Sequence[str],
        *,
        skip_unreadable: bool,
        label: str | None = None,
        named_by: str | None = None,
    ) -> "Collection":
        """Items of files, folders or tables, by the columns of the training unless a ``label`` is named.

        Skipped files are named on the standard error.
        """
        from samekind.questions import collected
        from samekind.training import RunFolder

        items = collected(
            self.space,
            sources,
            skip_unreadable=skip_unreadable,
            trained=RunFolder.around(self.folder).data_settings(),
            label=label,
            named_by=named_by,
        )
        if items.skipped:
            reasons = "; ".join(" ".join(why.split()) for _, why in items.skipped)
            print_messages(f"skipped {len(items.skipped)}: {reasons}")
        return items

    def read_labelled(self, data: str, *, skip_unreadable: bool, label: str | None = None) -> "Items":
        """Items whose class is known: named data, the validation items of a run, or what `read` takes."""
        from samekind.data import open_data
        from samekind.data.sources import NAMED
        from samekind.data.words import spelt_as
        from samekind.questions.reading import with_labels
        from samekind.training import RunFolder

        if RunFolder(data).finished:
            items = RunFolder(data).sets().validation
            spelling = tuple(spelt_as(items.classes, self.space.classes))
            return replace(items, classes=spelling) if len(set(spelling)) == len(spelling) else items
        if data in NAMED:
            return open_data(data)
        collection = self.read([data], skip_unreadable=skip_unreadable, label=label)
        return with_labels(collection, name=Path(data).name or data)

    def warn_of_training_items(self, sources: Sequence[str]) -> None:
        """Name the sources that the space was trained on: a figure about them is too good."""
        from samekind.training import RunFolder

        run = RunFolder.around(self.folder)
        if seen := [source for source in sources if run.trained_on(source)]:
            print_messages(TRAINING_ITEMS.format(data=", ".join(seen)))


def open_space(folder: Path, device: str) -> OpenSpace:
    """The space in a folder, or in that of its run, on the device a user asks for."""
    from samekind.training import RunFolder, launch

    return OpenSpace(RunFolder(folder).space().to(launch(device, "32-true").device), folder)


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
