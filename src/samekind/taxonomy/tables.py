"""Trees as tables (CSV): the path of each class, or the parent of each node.

A path separates its steps by slashes; a slash inside a name is written with a backslash before it.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from samekind.errors import DataError
from samekind.taxonomy.building import tree_of_parents, tree_of_paths
from samekind.taxonomy.tree import Tree

CLASS = ("class", "name", "label")
PATH = ("path", "lineage", "taxonomy")
CHILD = ("child", "node", *CLASS)
PARENT = ("parent",)
LENGTH = ("length", "distance")
WANTED = "expected the columns class and path, or child and parent (and length)"
STEP = re.compile(r"((?:\\[/\\]|[^/])*)(/|$)")
ESCAPED = re.compile(r"\\([/\\])")


def parse_table(text: str) -> Tree:
    """The tree of a table with the columns class and path, or child and parent, and perhaps length.

    Columns are separated by commas, semicolons or tabs, and other columns are left alone. The root has no
    parent, or no row. Raises DataError, with the class or node named, if it is no tree.

    >>> parse_table("class,path\\ndog,animals/mammals/dog\\n").path("dog")
    ('animals', 'mammals', 'dog')
    """
    rows = _rows(text)
    header = [cell.strip().lower() for cell in next(rows, [])]
    path, parent, length = _column(header, PATH), _column(header, PARENT), _column(header, LENGTH)
    name = _column(header, CLASS if path is not None else CHILD)
    if name is None or (path is None) == (parent is None):
        raise DataError(f"{WANTED}; got {', '.join(header) or 'an empty file'}")
    if path is not None:
        return _of_paths(rows, name, path)
    return _of_parents(rows, name, parent or 0, length)


def paths_text(tree: Tree) -> str:
    """The path of each leaf, as a table. Lengths are left out."""
    return _table(
        ["class", "path"], ([leaf, "/".join(map(_escaped, tree.path(leaf)))] for leaf in tree.leaves())
    )


def parents_text(tree: Tree) -> str:
    """The parent of each node, as a table, with lengths unless all are 1."""
    parents = ["" if above < 0 else tree.names[above] for above in tree.parents]
    if not tree.has_lengths:
        return _table(["child", "parent"], zip(tree.names, parents, strict=True))
    lengths = ["", *tree.lengths[1:]]
    return _table(["child", "parent", "length"], zip(tree.names, parents, lengths, strict=True))


def _of_paths(rows: Iterator[list[str]], name: int, path: int) -> Tree:
    paths: dict[str, list[str]] = {}
    for label, way in _cells(rows, (name, path)):
        steps = [ESCAPED.sub(r"\1", step).strip() for step, _ in STEP.findall(way.lstrip("/"))]
        while steps and not steps[-1]:
            steps.pop()
        if paths.get(label) == steps:
            raise DataError(f'expected each class once; "{label}" is listed twice')
        if label in paths:
            both = f'"{"/".join(paths[label])}" and "{"/".join(steps)}"'
            raise DataError(f'expected one place for each class; "{label}" has the paths {both}')
        paths[label] = steps
    return tree_of_paths(paths)


def _of_parents(rows: Iterator[list[str]], name: int, parent: int, length: int | None) -> Tree:
    parents: dict[str, str | None] = {}
    lengths: dict[str, float] = {}
    for label, above, *number in _cells(rows, (name, parent) if length is None else (name, parent, length)):
        if label in parents:
            both = f'"{parents[label] or ""}" and "{above}"'
            raise DataError(f'expected one parent for each node; "{label}" has {both}')
        parents[label] = above or None
        if number and above:
            lengths[label] = _number(number[0], label)
    return tree_of_parents(parents, lengths=lengths)


def _rows(text: str) -> Iterator[list[str]]:
    first = text.lstrip().partition("\n")[0]
    separator = max("\t;,", key=first.count)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    except csv.Error as error:
        raise DataError(f"expected a table with columns; it cannot be read: {error}") from None


def _cells(rows: Iterator[list[str]], columns: Sequence[int]) -> Iterator[list[str]]:
    """The cells of these columns, row by row; empty rows are passed over."""
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = [row[column].strip() if column < len(row) else "" for column in columns]
        if not cells[0]:
            raise DataError(f"expected a name in every row; row {number} has none")
        yield cells


def _column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The place of the first of these columns that there is."""
    return next((header.index(name) for name in names if name in header), None)


def _number(cell: str, label: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise DataError(f'expected a number for the length above "{label}"; got "{cell}"') from None


def _escaped(name: str) -> str:
    return re.sub(r"([/\\])", r"\\\1", name)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
