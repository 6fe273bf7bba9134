"""samekind classes: how are my classes related?"""

from typing import Annotated

from typer import Option

from samekind.cli.options import AsJson, Device, Kind, SpaceArgument
from samekind.cli.output import print_json, print_table, table
from samekind.cli.spaces import open_space

#: The letters that a name of a class and the names of a group take in a table.
LONGEST_NAME, LONGEST_GROUP = 24, 44


def classes(
    space: SpaceArgument,
    kind: Kind = None,
    k: Annotated[int, Option("-k", "--nearest", help="How many of the most alike to name.", min=1)] = 3,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Show which classes are most alike, and how they join into a tree."""
    from samekind import questions

    loaded = open_space(space, device).space
    answer = questions.classes(loaded, kind=kind, k=k)
    if as_json:
        print_json(answer.to_json())
        return
    lines = [
        [_short(name), ", ".join(f"{_short(other.name)} ({other.score:.3f})" for other in others)]
        for name, others in answer.alike.items()
    ]
    print_table(table(f"Most alike, by {answer.kind}", ["class", "most alike"], lines, texts=2))
    joined = [[_named(join.first), _named(join.second), f"{join.score:.3f}"] for join in answer.joins]
    print_table(table("Joined, the most alike first", ["these", "with", "score"], joined, texts=2))


def _named(group: tuple[str, ...]) -> str:
    """The first names of a group, as many as a cell has room for, and how many more there are.

    >>> _named(("Acadian flycatcher", "Least flycatcher", "Olive-sided flycatcher"))
    'Acadian flycatcher, Least flycatcher, 1 more'
    """
    names = [_short(name) for name in group]
    fitting = [count for count in range(1, len(names)) if len(", ".join(names[:count])) <= LONGEST_GROUP - 8]
    if len(", ".join(names)) <= LONGEST_GROUP:
        return ", ".join(names)
    count = max(fitting, default=1)
    return ", ".join([*names[:count], f"{len(names) - count} more"])


def _short(name: str) -> str:
    """A long name without its middle.

    >>> _short("Mkhedruli_(Georgian)/character07")
    'Mkhedruli_(G…character07'
    """
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}"
