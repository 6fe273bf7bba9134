"""Trees in files: which format a file has, by its ending and its content."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from samekind.errors import DataError, SettingError, nearest
from samekind.storage import write_text
from samekind.taxonomy.nested import indented_text, nested_text, parse_indented, parse_nested
from samekind.taxonomy.newick import newick_text, parse_newick
from samekind.taxonomy.tables import parents_text, parse_table, paths_text
from samekind.taxonomy.tree import Tree

#: The largest file that is read, in bytes.
LARGEST = 2**28

#: What to do about a file that holds no tree.
GIVE = "give Newick, a table with the columns class and path, or node and parent, JSON, or indented text"

FormatName = Literal["newick", "paths", "parents", "json", "text"]


class _Format(NamedTuple):
    parse: Callable[[str], Tree]
    text: Callable[[Tree], str]
    endings: tuple[str, ...]


FORMATS: dict[FormatName, _Format] = {
    "newick": _Format(parse_newick, newick_text, (".nwk", ".newick", ".tree", ".tre", ".nw")),
    "paths": _Format(parse_table, paths_text, (".csv",)),
    "parents": _Format(parse_table, parents_text, (".tsv",)),
    "json": _Format(parse_nested, nested_text, (".json",)),
    "text": _Format(parse_indented, indented_text, (".txt",)),
}
ENDINGS = {ending: name for name, entry in FORMATS.items() for ending in entry.endings}


def read_tree(path: Path | str) -> Tree:
    """The tree of a file: Newick (.nwk), a table of paths or parents (.csv, .tsv), JSON, or indented text.

    A file with another ending is recognised by its content, and so is .txt. Raises DataError, with the file
    and the node named, for anything that is no tree.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"expected a tree of at most {LARGEST:,} bytes")
        text = path.read_bytes().decode("utf-8-sig")
        return FORMATS[_format_of(path, text)].parse(text)
    except OSError as error:
        raise DataError(f"cannot read the tree {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: expected a tree as text (UTF-8); it is something else: {GIVE}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def write_tree(tree: Tree, path: Path | str, *, form: FormatName | None = None) -> None:
    """Write a tree in the format of the file's ending, or in ``form``.

    "newick", "parents" and "json" keep the lengths; "paths" and "text" do not. Raises SettingError for an
    ending that says nothing, and DataError for a tree that the format cannot hold.
    """
    path = Path(path)
    if form is None:
        if path.suffix.lower() not in ENDINGS:
            known = ", ".join(ENDINGS)
            raise SettingError(f'expected a file that ends in one of {known}, for a tree; got "{path.name}"')
        form = ENDINGS[path.suffix.lower()]
    if form not in get_args(FormatName):
        raise SettingError(f'unknown form of a tree "{form}"; {nearest(form, get_args(FormatName))}')
    write_text(path, FORMATS[form].text(tree))


def _format_of(path: Path, text: str) -> FormatName:
    """The format by the ending, or by the first sign and line where that says little."""
    by_ending = ENDINGS.get(path.suffix.lower())
    start = text.lstrip()
    if not start:
        raise DataError(f"expected a tree; the file is empty: {GIVE}")
    if by_ending is not None and by_ending != "text":
        return by_ending
    if start[0] in "{[":
        return "json"
    if start[0] == "(" and start.rstrip().endswith(";"):
        return "newick"
    columns = {
        cell.strip().lower()
        for cell in start.partition("\n")[0].replace("\t", ",").replace(";", ",").split(",")
    }
    return "paths" if columns & {"path", "parent"} and len(columns) > 1 else "text"
