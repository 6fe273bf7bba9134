"""Groups as files: a table, or a folder with a folder for each group."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samekind.data import medium_of, write_image
from samekind.data.media.pictures import picture_stem
from samekind.errors import SettingError
from samekind.inference.representatives import centre_distances
from samekind.questions.table_files import write_table
from samekind.reports import Grouped, write_groups_page
from samekind.storage import recover_folder, write_folder

TABLE, PAGE = "groups.csv", "report.html"


def group_columns(grouped: Grouped) -> dict[str, Sequence[Any]]:
    """A row for each item: its group, from 1, and its distance from the centre."""
    labelled = any(label is not None for label in grouped.labels)
    return {
        "id": grouped.ids,
        **({"label": grouped.labels} if labelled else {}),
        "group": [group + 1 for group in grouped.groups.assigned.tolist()],
        "distance": centre_distances(grouped.z, grouped.groups).tolist(),
    }


def check_folder(folder: Path) -> None:
    """Refuse, before the work begins, a folder that holds anything but groups or that cannot be replaced."""
    recover_folder(folder)
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / TABLE).is_file()):
        raise SettingError(f"{folder} holds something other than groups; choose another folder")
    for path in (folder, *(path for path in folder.iterdir() if path.is_dir())):
        if not os.access(path, os.W_OK):  # its files could not be removed
            raise SettingError(
                f"{path} may not be written to, so the groups in {folder} stay as they are; choose another "
                "folder, or let its owner allow it"
            )


def write_groups(folder: Path, grouped: Grouped, *, title: str, raw_texts: bool = False) -> None:
    """Write a folder, whole or not at all: the table, the page, and a copy of each picture in the folder of
    its group. Earlier groups are replaced.

    A picture file is copied as it is; a picture from an archive or an array is written as PNG, as the space
    sees it.
    """
    check_folder(folder)

    def fill(draft: Path) -> None:
        write_table(draft / TABLE, group_columns(grouped), raw_texts=raw_texts)
        write_groups_page(draft / PAGE, grouped, title=title)
        if medium_of(shape := grouped.inputs.shape[1:]).shows(shape):
            for group in range(len(grouped.groups.centres)):
                _fill_group(draft / f"group-{group + 1}", grouped, grouped.members(group))

    write_folder(folder, fill)


def _fill_group(folder: Path, grouped: Grouped, members: Sequence[int]) -> None:
    folder.mkdir()
    taken: set[str] = set()
    for item in members:
        source = Path(grouped.ids[item])
        is_file = source.is_file() and source.suffix.lower() != ".npy"
        name = _free(source.name if is_file else _as_png(source), taken)
        if is_file:
            shutil.copy2(source, folder / name)
        else:
            rows = grouped.inputs[item : item + 1]
            [picture] = medium_of(rows.shape[1:]).thumbnails(rows)
            write_image(folder / name, picture)


def _as_png(source: Path) -> str:
    """The name of a picture that has no file: a.png for a.jpg in an archive, and for a.npy."""
    return f"{picture_stem(source)}.png"


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken, in any case of its letters: a.png, a-2.png, …"""
    path, number, free = Path(name), 1, name
    while free.lower() in taken:
        number += 1
        free = f"{path.stem}-{number}{path.suffix}"
    taken.add(free.lower())
    return free
