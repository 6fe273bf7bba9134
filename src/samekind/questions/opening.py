"""A space opened from a folder, and the items of files that are read as its training data was."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from samekind.data import Collection, Items, Sets, open_data
from samekind.data.class_tree import read_class_tree
from samekind.data.files import File
from samekind.data.sources import NAMED
from samekind.data.words import spelt_as
from samekind.questions.reading import collected, files_in, with_labels
from samekind.space import MetricSpace
from samekind.training import RunFolder, launch

#: Called with the files that were skipped, if there are any: each with the reason.
ReportSkipped = Callable[[Sequence[tuple[str, str]]], None]


def ignore_skipped(_skipped: Sequence[tuple[str, str]]) -> None:
    """Do nothing about skipped files."""


@dataclass(frozen=True)
class OpenSpace:
    """A space and the folder, of it or of its run, that it was opened from."""

    space: MetricSpace
    folder: Path
    report_skipped: ReportSkipped = ignore_skipped

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def space_folder(self) -> Path:
        """The folder of the space itself."""
        return RunFolder(self.folder).space_folder()

    def read(
        self,
        sources: Sequence[str],
        *,
        skip_unreadable: bool = False,
        label: str | None = None,
        named_by: str | None = None,
    ) -> Collection:
        """Items of files, folders or tables, by the columns of the training unless a ``label`` is named."""
        items = collected(
            self.space,
            sources,
            skip_unreadable=skip_unreadable,
            trained=RunFolder.around(self.folder).data_settings(),
            label=label,
            named_by=named_by,
        )
        if items.skipped:
            self.report_skipped(items.skipped)
        return items

    def files(self, sources: Sequence[str]) -> dict[str, File]:
        """The files that `read` would read, by their ids; none is decoded."""
        return files_in(self.space, sources, trained=RunFolder.around(self.folder).data_settings())

    def read_labelled(self, data: str, *, skip_unreadable: bool = False, label: str | None = None) -> Items:
        """Items whose class is known: named data, the validation items of a run, or what `read` takes."""
        if RunFolder(data).finished:
            items = RunFolder(data).sets().validation
            spelling = tuple(spelt_as(items.classes, self.space.classes))
            return replace(items, classes=spelling) if len(set(spelling)) == len(spelling) else items
        if data in NAMED:
            return open_data(data)
        collection = self.read([data], skip_unreadable=skip_unreadable, label=label)
        return with_labels(collection, name=Path(data).name or data)

    def read_known(
        self,
        data: str,
        labels: bool | None = None,
        *,
        skip_unreadable: bool = False,
        label: str | None = None,
    ) -> Items | Collection:
        """Items with their classes, or a collection without. ``labels`` None takes the classes where every
        item has one.
        """
        if labels:
            return self.read_labelled(data, skip_unreadable=skip_unreadable, label=label)
        items = self.read([data], skip_unreadable=skip_unreadable, label=label)
        if labels is None and None not in items.labels:
            return with_labels(items, name=Path(data).name or data)
        return items

    def take_tree(self, file: Path | None) -> None:
        """Grade by the tree of a file from now on, if one is given; what is saved stays as it is.

        Raises DataError for a file that is no tree, or lacks a class of the space.
        """
        if file is None:
            return
        tree = read_class_tree(file, self.space.classes)
        if tree != self.space.tree:  # the levels were fitted for another
            self.space.tree, self.space.levels = tree, None

    def validation_items(self) -> Items:
        return RunFolder(self.folder).sets().validation

    def test_items(self) -> Items:
        return next(iter(RunFolder(self.folder).sets().tests().values()))

    def trained_on(self, sources: Sequence[str]) -> tuple[str, ...]:
        """Those of the sources that the space was trained on: a figure about them is too good."""
        run = RunFolder.around(self.folder)
        return tuple(source for source in sources if run.trained_on(source))


@dataclass(frozen=True)
class OpenRun:
    """The space of a run, and the sets it was trained and is to be tested on."""

    opened: OpenSpace
    sets: Sets


def open_run(
    folder: Path, device: str = "auto", *, report_skipped: ReportSkipped = ignore_skipped
) -> OpenRun:
    """The finished run of a folder, its space on a device."""
    sets = RunFolder(folder).sets()  # first: it says what is wrong with the folder of a run
    return OpenRun(open_space(folder, device, report_skipped=report_skipped), sets)


def open_space(
    folder: Path, device: str = "auto", *, report_skipped: ReportSkipped = ignore_skipped
) -> OpenSpace:
    """The space in a folder, or in that of its run, on a device."""
    space = RunFolder(folder).space().to(launch(device, "32-true").device)
    return OpenSpace(space, folder, report_skipped)
