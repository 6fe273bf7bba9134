"""Changes to a saved space, by one writer at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from samekind.archive import expect_replaceable
from samekind.errors import SpaceError
from samekind.questions.opening import OpenSpace, ReportSkipped, ignore_skipped, open_space
from samekind.space import MetricSpace
from samekind.storage import LockedError, recover_folder, sole_writer
from samekind.training import RunFolder


@contextmanager
def changing(folder: Path) -> Iterator[Callable[[MetricSpace], None]]:
    """Lock the folder of a space, before it is loaded, and yield a function that saves to it.

    Raises SpaceError if another writer has the lock, because the last to save would undo what the first did;
    if the space was changed without the lock, as by a training that ends meanwhile; and at once if the folder
    cannot be replaced.
    """
    try:
        with sole_writer(folder):
            recover_folder(folder)  # as loading does, which must not look like a change
            expect_replaceable(folder)
            before = _header(folder)

            def save(space: MetricSpace) -> None:
                if _header(folder) != before:
                    raise SpaceError(
                        f"{folder} was changed by another writer since it was loaded here, and stays as it "
                        "is now; give the command again"
                    )
                space.save(folder)

            yield save
    except LockedError as error:
        raise SpaceError(
            f"{folder} is being changed by {error}; wait for that to end, and give the command again"
        ) from error


@contextmanager
def changed_space(
    folder: Path,
    device: str = "auto",
    *,
    out: Path | None = None,
    report_skipped: ReportSkipped = ignore_skipped,
) -> Iterator[OpenSpace]:
    """The space in a folder, or in that of its run, to be changed by one writer. It is saved at the end, to
    ``out`` or where it was; after an error it is not. The folder is locked before the space is loaded.
    """
    with changing(out or RunFolder(folder).space_folder()) as save:
        opened = open_space(folder, device, report_skipped=report_skipped)
        yield opened
        save(opened.space)


def _header(folder: Path) -> bytes | None:
    """The description of a space, with a hash of its weights; None if there is none."""
    try:
        return (folder / "space.json").read_bytes()
    except OSError:
        return None
