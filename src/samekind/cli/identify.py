"""samekind identify: which class is it, or none of these?"""

from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.options import AsJson, Device, Kind, SkipUnreadable, SpaceFolder

if TYPE_CHECKING:
    from samekind.questions.identify import Answer, Identified

Files = Annotated[list[str], typer.Argument(metavar="FILES…", help="What to name: files, folders or tables.")]
Level = Annotated[
    float | None,
    typer.Option(
        help="Answer with a group of the tree where the class is unsure, so that this share of answers "
        "is right: 0.95."
    ),
]


def identify(
    files: Files,
    space: SpaceFolder,
    kind: Kind = None,
    level: Level = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Name the class of each item with its probability, or none of these.

    Classes are named by --kind. The score is of the kind that the threshold for none of these was fitted
    for, or without one of the kind that named the class. With --level the answer may be a group of the tree
    that the space was trained with: "some copepod".
    """
    from samekind import questions
    from samekind.cli.output import print_json, print_messages, print_table, table
    from samekind.cli.progress_bar import bar
    from samekind.cli.spaces import open_space
    from samekind.cli.thresholds import FITS_ONE

    opened = open_space(space, device)
    items = opened.read(files, skip_unreadable=skip_unreadable)
    answer = questions.identify(opened.space, items, kind=kind, level=level, progress=bar)
    if as_json:
        print_json(answer.to_json())
        return
    print_messages(*(f"{warning}; {FITS_ONE}" for warning in answer.warnings))
    lines = [
        [item.id, _called(answer, item), f"{item.probability:.3f}", f"{item.score:.4f}"]
        for item in answer.items
    ]
    score = "score" if answer.kind == "similarity" else f"score ({answer.kind})"
    print_table(table("Classes", ["item", "class", "probability", score], lines, texts=2))


def _called(answer: "Identified", item: "Answer") -> str:
    """The answer in words: a class, "some" and the group it is in, or none of these."""
    from samekind.questions.identify import NONE

    if item.name is None:
        return NONE
    return f"some {item.name}" if answer.is_inner(item) else item.name
