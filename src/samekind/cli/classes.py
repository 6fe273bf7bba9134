"""samekind classes: how are my classes related?"""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.options import AsJson, Device

#: Names of a group that a line of the tree shows.
MOST_NAMED = 4


def classes(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")],
    kind: Annotated[
        str, typer.Option(help="The score to relate them by: similarity, cosine or fused.")
    ] = "similarity",
    k: Annotated[int, typer.Option("-k", "--nearest", help="How many of the most alike to name.", min=1)] = 3,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Show which classes are most alike, and how they join into a tree."""
    from samekind.cli.asking import known_kind, open_space
    from samekind.cli.output import print_json, print_table, table
    from samekind.inference import class_scores, class_tree

    loaded = open_space(space, device)
    asked = known_kind(loaded, kind)
    tree, names = class_tree(loaded, kind=asked), loaded.classes
    scores = class_scores(loaded, kind=asked).fill_diagonal_(-float("inf"))
    best = scores.topk(min(k, len(names) - 1))
    alike = {
        name: [(names[place], score) for place, score in zip(places, values, strict=True)]
        for name, places, values in zip(names, best.indices.tolist(), best.values.tolist(), strict=True)
    }
    if as_json:
        closest = {
            name: [{"class": other, "score": score} for other, score in each] for name, each in alike.items()
        }
        print_json({"kind": asked, "alike": closest, "tree": [each._asdict() for each in tree]})
        return
    lines = [
        [name, ", ".join(f"{other} ({score:.3f})" for other, score in each)] for name, each in alike.items()
    ]
    print_table(table(f"Most alike, by {asked}", ["class", "most alike"], lines, texts=2))
    joined = [[_named(each.first), _named(each.second), f"{each.score:.3f}"] for each in tree]
    print_table(table("Joined, the most alike first", ["these", "with", "score"], joined, texts=2))


def _named(group: tuple[str, ...]) -> str:
    """The first of a group, and how many more there are.

    >>> _named(("a", "b", "c", "d", "e"))
    'a, b, c, d and 1 more'
    """
    more = f" and {len(group) - MOST_NAMED} more" if len(group) > MOST_NAMED else ""
    return ", ".join(group[:MOST_NAMED]) + more
