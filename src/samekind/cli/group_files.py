"""Groups as files: a table, or a folder with a folder for each group."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import SettingError

if TYPE_CHECKING:
    from samekind.reports import Grouped

TABLE, PAGE = "groups.csv", "report.html"


def group_columns(found: "Grouped") -> dict[str, Sequence[Any]]:
    """What is written of each item: its group, from 1, and how far it is from the centre."""
    from samekind.inference.representatives import centre_distances

    labelled = any(each is not None for each in found.labels)
    return {
        "id": found.ids,
        **({"label": found.labels} if labelled else {}),
        "group": [group + 1 for group in found.groups.assigned.tolist()],
        "distance": centre_distances(found.z, found.groups).tolist(),
    }


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but groups, or may not be written to, before the work begins: it
    would be replaced.
    """
    from samekind.storage import recover_folder

    recover_folder(folder)
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / TABLE).is_file()):
        raise SettingError(f"{folder} holds something else than groups; choose another folder")
    for each in (folder, *(each for each in folder.iterdir() if each.is_dir())):
        if not os.access(each, os.W_OK):  # what is in it could not be removed
            raise SettingError(
                f"{each} may not be written to, so the groups in {folder} stay as they are; choose another "
                "folder, or let its owner allow it"
            )


def write_groups(folder: Path, found: "Grouped", *, title: str) -> None:
    """Write a folder, whole or not at all: the table, the page, and of pictures a copy in its group's folder.

    A picture that is a file is copied as it is; one from an archive or an array is written as PNG, as the
    space sees it. Items that are no pictures are in the table alone. Groups found earlier are replaced.
    """
    from samekind.cli.tables import write_table
    from samekind.data import medium_of
    from samekind.reports import write_groups_page
    from samekind.storage import write_folder

    check_folder(folder)

    def fill(draft: Path) -> None:
        write_table(draft / TABLE, group_columns(found))
        write_groups_page(draft / PAGE, found, title=title)
        if medium_of(shape := found.inputs.shape[1:]).shows(shape):
            for group in range(len(found.groups.centres)):
                _fill_group(draft / f"group-{group + 1}", found, found.members(group))

    write_folder(folder, fill)


def _fill_group(folder: Path, found: "Grouped", members: Sequence[int]) -> None:
    from samekind.data import scaled, write_image

    folder.mkdir()
    taken: set[str] = set()
    for item in members:
        source = Path(found.ids[item])
        is_file = source.is_file() and source.suffix.lower() != ".npy"
        name = _free(source.name if is_file else _as_png(source), taken)
        if is_file:
            shutil.copy2(source, folder / name)
        else:
            [picture] = scaled(found.inputs[item : item + 1])
            write_image(folder / name, picture.clamp(0, 1))


def _as_png(source: Path) -> str:
    """A name for what is no picture file of its own: a.png for a.jpg in an archive, and for a.npy."""
    from samekind.data import PICTURES

    inner = source.stem if PICTURES.takes(source.suffix) else source.name
    return f"{inner}.png"


def _free(name: str, taken: set[str]) -> str:
    """A name nothing in the folder has yet, whatever the case of its letters: a.png, a-2.png, …"""
    path, number, free = Path(name), 1, name
    while free.lower() in taken:
        number += 1
        free = f"{path.stem}-{number}{path.suffix}"
    taken.add(free.lower())
    return free
