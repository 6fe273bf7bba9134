"""A saved space that is read, changed and saved again: by one command at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.errors import SpaceError
from samekind.storage import LockedError, recover_folder, sole_writer

if TYPE_CHECKING:
    from samekind.space import MetricSpace


@contextmanager
def changing(folder: Path) -> "Iterator[Callable[[MetricSpace], None]]":
    """Have the folder of a space to oneself, from before it is loaded; yields what saves to it.

    Of two that change it at a time, the one who saves last would undo what the other did, so the second is
    refused. One who asks nobody, such as a training that ends meanwhile, is noticed before it is undone. A
    folder that may not be replaced is refused at once, not when the work is done.
    """
    from samekind.archive import expect_replaceable

    try:
        with sole_writer(folder):
            recover_folder(folder)  # as loading it would, which must not look like somebody's change
            expect_replaceable(folder)
            before = _header(folder)

            def save(space: "MetricSpace") -> None:
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


def _header(folder: Path) -> bytes | None:
    """All that is said of a space, with a hash of its weights; None where there is none."""
    try:
        return (folder / "space.json").read_bytes()
    except OSError:
        return None
