"""Trees as Newick, ``(dog:1,cat:2)mammals;``: what programs for phylogenies read and write.

treeswift reads and writes the brackets and lengths. Names pass it as numbers between zero characters, for it
neither keeps nor doubles the quotes inside quoted names.
"""

import re

from samekind.errors import DataError
from samekind.taxonomy.building import tree_of_places, with_names
from samekind.taxonomy.tree import Tree

QUOTED_OR_COMMENT = re.compile(r"'((?:[^']|'')*)'|\[[^\]]*\]")
STANDING_IN = re.compile(r"\0(\d+)\0")
#: Names that mean the same to every program without quotes; an underscore means a space to some.
PLAIN = re.compile(r"[^\W_]([^\W_]|[.-])*")
NUMBER = re.compile(r"[\d.]+([eE][+-]?\d+)?")
#: treeswift takes a shorter text for the name of a file, if there is one.
NO_FILE = " " * 1000


def parse_newick(text: str) -> Tree:
    """The tree of a Newick text; raises DataError for another text, several trees, or a leaf without a name.

    Edges have their lengths, 1 each where none is given. Inner nodes without a name get one, and so do all of
    them where their names are numbers that come twice: how well a branch is supported, not what it is called.

    >>> parse_newick("((dog,cat)mammals,'white shark')animals;").path("dog")
    ('animals', 'mammals', 'dog')
    """
    from treeswift import read_tree_newick

    if "\0" in text:
        raise DataError("expected Newick as text; it has zero bytes")
    quoted: list[str] = []
    bare = " ".join(QUOTED_OR_COMMENT.sub(lambda match: _stand_in(match, quoted), text).split())
    if "'" in bare or not bare.strip("; "):
        raise DataError(f"expected Newick, such as ((dog,cat),shark);; got {_start(text)}")
    if bare.rstrip(";").count(";"):
        raise DataError("expected one tree; the file has several, each ended by a semicolon")
    try:
        nodes = list(read_tree_newick(f"{NO_FILE}{bare.rstrip(';')};").traverse_levelorder())
    except RuntimeError:
        raise DataError(f"expected Newick, such as ((dog,cat),shark);; got {_start(text)}") from None
    labels = [_label(node.label, quoted) for node in nodes]
    inner = [label for label, node in zip(labels, nodes, strict=True) if node.children and label]
    if len(set(inner)) < len(inner) and all(NUMBER.fullmatch(label) for label in inner):
        labels = [None if node.children else label for label, node in zip(labels, nodes, strict=True)]
    places = {node: place for place, node in enumerate(nodes)}
    for label, node in zip(labels, nodes, strict=True):
        if not node.children and not label:
            above = labels[places[node.parent]] if node.parent else None
            raise DataError(f"expected a name for every leaf; one under {above or 'an inner node'} has none")
    names = with_names(labels)
    return tree_of_places(
        names,
        [places.get(node.parent, -1) for node in nodes],
        _lengths([node.edge_length for node in nodes], names),
    )


def newick_text(tree: Tree) -> str:
    """The tree as Newick, on one line, with lengths unless all are 1."""
    from treeswift import Node
    from treeswift import Tree as Written

    nodes = []
    for place, (above, length) in enumerate(zip(tree.parents, tree.lengths, strict=True)):
        nodes.append(
            Node(label=f"\0{place}\0", edge_length=length if tree.has_lengths and above >= 0 else None)
        )
        if above >= 0:
            nodes[above].add_child(nodes[place])
    written = Written(is_rooted=False)
    written.root = nodes[0]
    return STANDING_IN.sub(lambda match: _quoted(tree.names[int(match[1])]), written.newick()) + "\n"


def _stand_in(match: re.Match[str], quoted: list[str]) -> str:
    if match[1] is None:
        return ""
    quoted.append(match[1].replace("''", "'"))
    return f"\0{len(quoted) - 1}\0"


def _label(written: str | None, quoted: list[str]) -> str | None:
    label = STANDING_IN.sub(lambda match: quoted[int(match[1])], (written or "").strip())
    return label or None


def _lengths(given: list[float | None], names: list[str]) -> list[float] | None:
    """The lengths, 0 for the root; None if there are none. All edges have one, or no edge has."""
    if not any(length is not None for length in given[1:]):
        return None
    for length, name in zip(given[1:], names[1:], strict=True):
        if length is None:
            raise DataError(f'expected a length for every edge, or for none; that above "{name}" has none')
    return [0.0, *(length for length in given[1:] if length is not None)]


def _quoted(name: str) -> str:
    return name if PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _start(text: str) -> str:
    shown = " ".join(text[:40].split())
    return f'"{shown}…"' if len(text) > 40 else f'"{shown}"'
