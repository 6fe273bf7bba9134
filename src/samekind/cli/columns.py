"""Which columns of a table are meant: those asked for, those of the training, or the usual ones."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from samekind.data import DataSettings


class Columns(NamedTuple):
    """The settings a table is read by, and those for what is not in it of the columns they name."""

    wanted: "DataSettings"
    otherwise: "DataSettings"


def columns_of(space: Path, label: str | None = None) -> Columns:
    """The columns of label, path and group that the run of a space was trained on, so that nobody has to name
    them again; in a table that has them not, "label", "path" and "group". A ``label`` that is given is the
    only one.

    A space apart from its run does not know any more.
    """
    from samekind.data import DataSettings
    from samekind.training import RunFolder

    trained = RunFolder.around(space).data_settings()
    return Columns(
        DataSettings(label=trained.label if label is None else label, path=trained.path, group=trained.group),
        DataSettings() if label is None else DataSettings(label=label),
    )
