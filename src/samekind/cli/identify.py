"""samekind identify: which class is it, or none of these?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from samekind.cli.options import AsJson, Device, Kind, SkipUnreadable, SpaceFolder
from samekind.cli.output import print_messages, print_table, render, table
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space
from samekind.cli.thresholds import FITS_ONE
from samekind.cli.together import Goes, check_together

if TYPE_CHECKING:
    from samekind.questions.identify import Answer, Identified
    from samekind.questions.identify_windows import Heard

Files = Annotated[list[str], Argument(metavar="FILES…", help="What to name: files, folders or tables.")]
Level = Annotated[
    float | None,
    Option(
        help="Answer with a group of the tree where the class is unsure, so that this share of answers "
        "is right: 0.95."
    ),
]
Windows = Annotated[
    float | None,
    Option(
        "--windows",
        metavar="SECONDS",
        help="Cut long sounds into windows of so many seconds, and say who is heard when.",
    ),
]

TOGETHER = {"level": Goes(without=("windows",), because="windows are answered by classes")}


def identify(
    context: typer.Context,
    files: Files,
    space: SpaceFolder,
    kind: Kind = None,
    level: Level = None,
    windows: Windows = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Name the class of each item with its probability, or none of these.

    Classes are named by --kind. The score is of the kind that the threshold for none of these was fitted
    for, or without one of the kind that named the class. With --level the answer may be a group of the tree
    that the space was trained with: "some copepod". With --windows a long recording is answered piece by
    piece; neighbours with the same answer are joined, and times without a voice are left out.
    """
    from samekind import questions
    from samekind.questions.identify_windows import check_windows

    check_together(context, TOGETHER)
    opened = open_space(space, device)
    if windows is None:
        items = opened.read(files, skip_unreadable=skip_unreadable)
        answer = questions.identify(opened.space, items, kind=kind, level=level, progress=bar)
        render(answer.to_json(), lambda: _print(answer), as_json=as_json)
        return
    check_windows(opened.space, windows)
    how: Any = {"kind": kind, "skip_unreadable": skip_unreadable, "progress": bar}
    heard = questions.identify_windows(opened.space, opened.files(files), seconds=windows, **how)
    if heard.skipped:
        opened.report_skipped(heard.skipped)
    render(heard.to_json(), lambda: _print_windows(heard), as_json=as_json)


def _print(answer: "Identified") -> None:
    _warn(answer)
    lines = [
        [item.id, _called(answer, item), f"{item.probability:.3f}", f"{item.score:.4f}"]
        for item in answer.items
    ]
    score = "score" if answer.kind == "similarity" else f"score ({answer.kind})"
    print_table(table("Classes", ["item", "class", "probability", score], lines, texts=2))


def _print_windows(answer: "Heard") -> None:
    from samekind.questions.identify import NONE

    _warn(answer)
    lines = [
        [item.id, _clock(item.start), _clock(item.end), item.name or NONE, f"{item.probability:.3f}"]
        for item in answer.stretches
    ]
    print_table(table("Who is heard when", ["item", "from", "to", "class", "probability"], lines, texts=4))


def _warn(answer: "Identified | Heard") -> None:
    """Tell what is to be known about the answer, and which command gives a missing threshold."""
    from samekind.questions.identify import NO_THRESHOLD

    for warning in answer.warnings:
        print_messages(f"{warning}; {FITS_ONE}" if warning == NO_THRESHOLD else warning)


def _clock(seconds: float) -> str:
    """A time as hours, minutes and seconds: 1:02:03.5."""
    tenths = round(10 * seconds)
    return f"{tenths // 36000}:{tenths // 600 % 60:02d}:{tenths % 600 / 10:04.1f}"


def _called(answer: "Identified", item: "Answer") -> str:
    """The answer in words: a class, "some" and the group it is in, or none of these."""
    from samekind.questions.identify import NONE

    if item.name is None:
        return NONE
    return f"some {item.name}" if answer.is_inner(item) else item.name
