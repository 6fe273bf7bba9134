"""Trees as nested JSON and as indented text."""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from samekind.errors import DataError
from samekind.plain_files import read_json
from samekind.taxonomy.building import tree_of_places, with_names
from samekind.taxonomy.tree import Tree

#: Higher trees are written in another format: readers of JSON go no deeper, and lines would be mostly spaces.
HIGHEST = 300
INDENT = "  "
WANTED = (
    'expected a tree as JSON: {"name": "animals", "children": [{"name": "dog"}]}, or {"animals": ["dog"]}'
)


class _Node(NamedTuple):
    name: str | None
    length: float | None
    below: Any


def parse_nested(text: str) -> Tree:
    """The tree of a JSON text: tables with name, children and perhaps length; or tables and lists of names in
    each other; or what `Tree.to_json` gives. Raises DataError, with the node named, if it is no tree.

    >>> parse_nested('{"animals": {"mammals": ["dog", "cat"], "fish": "shark"}}').leaves()
    ('dog', 'cat', 'shark')
    """
    try:
        plain = read_json(text, keys_once=True)
    except ValueError as error:
        raise DataError(f"{WANTED}; it cannot be read: {error}") from None
    if isinstance(plain, dict) and isinstance(plain.get("parents"), list):
        return Tree.from_json(plain)
    nodes: list[_Node] = []
    parents: list[int] = []
    waiting: deque[tuple[Any, int]] = deque([(plain, -1)])
    while waiting:
        value, above = waiting.popleft()
        for node in _nodes(value):
            waiting.append((node.below, len(nodes)))
            nodes.append(node)
            parents.append(above)
    names = with_names([node.name for node in nodes])
    for place in set(range(len(nodes))).difference(parents):
        if nodes[place].name is None:
            raise DataError(f'expected a name for every leaf; one under "{names[parents[place]]}" has none')
    lengths = [1.0 if node.length is None else node.length for node in nodes]
    return tree_of_places(names, parents, lengths)


def nested_text(tree: Tree) -> str:
    """The tree as JSON, tables with name, children and length (unless all are 1) in each other."""
    _check_height(tree)
    tables: list[dict[str, Any]] = []
    for name, above, length in zip(tree.names, tree.parents, tree.lengths, strict=True):
        tables.append({"name": name, **({"length": length} if tree.has_lengths and above >= 0 else {})})
        if above >= 0:
            tables[above].setdefault("children", []).append(tables[-1])
    return json.dumps(tables[0], ensure_ascii=False, indent=1) + "\n"


def parse_indented(text: str) -> Tree:
    """The tree of a text with a name on each line, and children further to the right than their parent.

    Raises DataError, with the line named, if it is no tree.

    >>> parse_indented("animals\\n  dog\\n  fish\\n    shark").path("shark")
    ('animals', 'fish', 'shark')
    """
    names: list[str] = []
    parents: list[int] = []
    open_nodes: list[tuple[str, int]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        name = line.strip(" \t\r")
        if not name:
            continue
        indent = line[: line.index(name)]
        closed = None
        while open_nodes and not (indent != open_nodes[-1][0] and indent.startswith(open_nodes[-1][0])):
            closed = open_nodes.pop()[0]
        if closed is not None and closed != indent:
            far = f'expected line {number}, "{name}", as far to the right as a line above it'
            raise DataError(f"{far}; it stands between two (a tab is not some spaces)")
        parents.append(open_nodes[-1][1] if open_nodes else -1)
        open_nodes.append((indent, len(names)))
        names.append(name)
    return tree_of_places(names, parents)


def indented_text(tree: Tree) -> str:
    """The tree as a text, a name a line, two spaces further right than its parent's; without lengths."""
    _check_height(tree)
    lines = []
    waiting = [0]
    while waiting:
        place = waiting.pop()
        name = tree.names[place]
        if "\n" in name or name != name.strip(" \t\r"):
            raise DataError(
                f'expected names that fit a line; "{name}" does not: write Newick or JSON instead'
            )
        lines.append(INDENT * tree.depths[place] + name)
        waiting += reversed(tree.children_places[place])
    return "\n".join(lines) + "\n"


def _nodes(value: Any) -> Iterator[_Node]:
    """The nodes that a value of the text stands for, with what is below each."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, list):
                raise DataError(f"{WANTED}; it has a list in a list")
            yield from _nodes(one)
    elif isinstance(value, dict) and value.keys() <= {"name", "children", "length"} and _describes(value):
        name, length = value.get("name"), value.get("length")
        if not isinstance(name, str | int | float | None) or isinstance(name, bool):
            raise DataError(f"expected a text for the name of a node; got {name!r:.40}")
        if not isinstance(length, int | float | None) or isinstance(length, bool):
            raise DataError(f'expected a number for the length above "{name}"; got {length!r:.40}')
        yield _Node(None if name is None else str(name), length, value.get("children"))
    elif isinstance(value, dict):
        yield from (_Node(name, None, below) for name, below in value.items())
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield _Node(str(value), None, None)
    elif value is not None:
        raise DataError(f"{WANTED}; it has {json.dumps(value)}")


def _describes(table: dict[str, Any]) -> bool:
    """Whether a table is a node, with name and children, and not a list of nodes of such names."""
    return isinstance(table.get("name"), str) or isinstance(table.get("children"), list)


def _check_height(tree: Tree) -> None:
    if tree.heights[0] > HIGHEST:
        raise DataError(
            f"expected a tree of at most {HIGHEST} levels for this format; this has {tree.heights[0]}: "
            "write Newick instead"
        )
