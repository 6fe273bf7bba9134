"""samekind classes: how are my classes related?"""

from typing import Annotated

import typer

from samekind.cli.options import AsJson, Device, Kind, SpaceArgument

#: Names of a group that a line of the tree shows.
NAMES_SHOWN = 4


def classes(
    space: SpaceArgument,
    kind: Kind = None,
    k: Annotated[int, typer.Option("-k", "--nearest", help="How many of the most alike to name.", min=1)] = 3,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Show which classes are most alike, and how they join into a tree."""
    from samekind import questions
    from samekind.cli.output import print_json, print_table, table
    from samekind.cli.spaces import open_space

    loaded = open_space(space, device).space
    answer = questions.classes(loaded, kind=kind, k=k)
    if as_json:
        print_json(answer.to_json())
        return
    lines = [
        [name, ", ".join(f"{other.name} ({other.score:.3f})" for other in others)]
        for name, others in answer.alike.items()
    ]
    print_table(table(f"Most alike, by {answer.kind}", ["class", "most alike"], lines, texts=2))
    joined = [[_named(join.first), _named(join.second), f"{join.score:.3f}"] for join in answer.joins]
    print_table(table("Joined, the most alike first", ["these", "with", "score"], joined, texts=2))


def _named(group: tuple[str, ...]) -> str:
    """The first names of a group, and how many more there are.

    >>> _named(("a", "b", "c", "d", "e"))
    'a, b, c, d and 1 more'
    """
    more = f" and {len(group) - NAMES_SHOWN} more" if len(group) > NAMES_SHOWN else ""
    return ", ".join(group[:NAMES_SHOWN]) + more
