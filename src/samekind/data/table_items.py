"""Rows of a table as items, and manifests: tables that name a file and its label in each row."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from shlex import quote

from samekind.data.files import PICTURES
from samekind.data.items import Items
from samekind.data.listing import Listing
from samekind.data.loading import labelled
from samekind.data.readers import TableReader
from samekind.data.settings import DataSettings
from samekind.data.tables import Table, check_column, numbers, texts
from samekind.errors import MOST_LISTED, DataError, nearest


def table_items(table: Table, settings: DataSettings) -> Items:
    """One item for each row: its features are numbers, its class is in the label column."""
    labels = _labels(table, settings)
    columns = feature_columns(table, settings)
    _expect_no_files(table, columns)
    listing = Listing(
        name=table.name,
        files=(),
        labels=labels,
        ids=[f"row {row + 1}" for row in range(table.rows)],
        domains=_texts_if_there(table, settings.domain),
        parts=_texts_if_there(table, settings.part),
        groups=_texts_if_there(table, settings.group),
    )
    items = labelled(numbers(table, columns), listing, range(table.rows), settings)
    return replace(items, reader=TableReader(columns=columns))


def _labels(table: Table, settings: DataSettings) -> list[str]:
    if settings.label not in table.columns:
        raise DataError(
            f'{table.name} has no column "{settings.label}"; {nearest(settings.label, table.columns)}; '
            "name the column of the class with --label (label in a run file or in DataSettings)"
        )
    return texts(table, settings.label)


def _expect_no_files(table: Table, columns: Sequence[str]) -> None:
    """Refuse to take a list of pictures for a table of numbers: its column of paths has another name."""
    for name in columns:
        first = table.columns[name][0]
        if isinstance(first, str) and PurePath(first.strip()).suffix.lower() in PICTURES | {".npy"}:
            raise DataError(
                f'{table.name}: the column "{name}" names files ("{first}" in row 1); if they are the items, '
                f"say so with --path {quote(name)} (path in a run file or in DataSettings), else leave it "
                "out with ignore"
            )


def feature_columns(table: Table, settings: DataSettings) -> list[str]:
    """The columns that are features: those named or, where none is, all that have no other meaning."""
    for name in (*settings.columns, *settings.ignore):
        check_column(table, name)
    spoken_for = {settings.label, settings.domain, settings.part, settings.group, *settings.ignore}
    if settings.label in settings.columns:
        raise DataError(f'the label column "{settings.label}" cannot be a feature as well')
    columns = list(settings.columns) or [name for name in table.columns if name not in spoken_for]
    if not columns:
        raise DataError(f"{table.name} has no column of features beside {', '.join(table.columns)}")
    return columns


def list_manifest(table: Table, root: Path, settings: DataSettings) -> Listing:
    """The files that a manifest names, by paths from its own folder (or absolute ones)."""
    paths, labels = texts(table, settings.path), _labels(table, settings)
    _expect_slashes(table.name, paths[0], root)
    domains, parts, groups = (
        _texts_if_there(table, column) for column in (settings.domain, settings.part, settings.group)
    )
    kept = _without_repetition(table.name, paths, [labels, domains, parts, groups])

    def pick(values: Sequence[str] | None) -> list[str] | None:
        return None if values is None else [values[row] for row in kept]

    return Listing(
        name=table.name,
        files=[root / paths[row] for row in kept],
        labels=[labels[row] for row in kept],
        ids=[paths[row] for row in kept],
        domains=pick(domains),
        parts=pick(parts),
        groups=pick(groups),
        repeated=sorted({paths[row] for row in set(range(len(paths))) - set(kept)}),
    )


def _expect_slashes(name: str, path: str, root: Path) -> None:
    """Refuse the paths of a list that was written on Windows, where they lead nowhere."""
    if "\\" in path and not (root / path).exists() and (root / path.replace("\\", "/")).exists():
        raise DataError(f"{name}: the paths have backslashes ({path}), as on Windows; write them with /")


def _without_repetition(name: str, paths: Sequence[str], beside: Sequence[Sequence[str] | None]) -> list[int]:
    """The first row of every path, however it is spelt; one of which something else is said later on is
    refused.
    """
    first: dict[Path, int] = {}
    torn: list[str] = []
    for row, path in enumerate(paths):
        before = first.setdefault(Path(path), row)  # "./a.png" is "a.png"
        torn += [
            f'{path} is "{values[before]}" in row {before + 1} and "{values[row]}" in row {row + 1}'
            for values in beside
            if values is not None and values[before] != values[row]
        ]
    if torn:
        more = f"; and {len(torn) - MOST_LISTED} more" if len(torn) > MOST_LISTED else ""
        raise DataError(f"{name} names a file twice: {'; '.join(torn[:MOST_LISTED])}{more}")
    return list(first.values())


def _texts_if_there(table: Table, column: str) -> list[str] | None:
    return texts(table, column) if column in table.columns else None
