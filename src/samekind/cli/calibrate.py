"""samekind calibrate: thresholds fitted on held-out items, and what they can promise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from samekind.cli.options import AsJson, Device, LabelColumn, Root, SkipUnreadable, SpaceArgument
from samekind.cli.output import print_json, print_messages, print_table, print_text
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import changed_space
from samekind.cli.thresholds import print_temperatures, thresholds_table
from samekind.cli.together import Goes, check_together
from samekind.settings import LARGEST_SEED, PAIRED_ITEMS

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.questions.calibrate import Calibrated
    from samekind.questions.opening import OpenSpace

PROMISES_TOO_MUCH = (
    "careful: {data} holds this space's training items; a threshold from them promises far too much. Without "
    "DATA, the validation items of the run are used"
)

Score = Annotated[
    str | None,
    Option(
        help="The kind of score: similarity, cosine, fused, fitted or normalised.",
        show_default="all there are; with --open-set the one with the least equal error on DATA",
    ),
]
OpenSet = Annotated[
    bool,
    Option(
        "--open-set",
        help="Fit the threshold for none of these, on DATA with known and other classes: for the score of "
        "--kind, or for the best one on DATA.",
    ),
]
Trials = Annotated[
    Path | None,
    Option(
        "--trials",
        metavar="LIST",
        help='Fit on the trials of a list instead of DATA: a line "1 first second" each.',
    ),
]
MostPaired = Annotated[
    int,
    Option("--most", "--most-items", help="Make pairs of at most this many items, drawn at random.", min=2),
]
PairedSeed = Annotated[int, Option(help="Fixes which items are drawn.", min=0, max=LARGEST_SEED)]

#: Which options need others, and which exclude them.
TOGETHER = {
    "data": Goes(without=("trials",), because="either is what to fit on"),
    "open_set": Goes(without=("trials",), because="a list does not say which classes are known"),
    "root": Goes(with_one_of=("trials",)),
    **dict.fromkeys(
        ("most_items", "seed"),
        Goes(without=("open_set", "trials"), because="it is for the pairs of the items"),
    ),
    **dict.fromkeys(("label", "skip_unreadable"), Goes(with_one_of=("data",))),
}

Data = Annotated[
    str | None,
    Argument(
        metavar="[DATA]",
        help="Labelled items that were not trained on: a folder, table, archive or name, or the folder "
        "of a run for its validation items. Not needed if SPACE is the folder of a run.",
    ),
]
At = Annotated[
    str, Option(help="The operating point: eer, far=0.001, frr=0.01, cost=0.01 or cost=0.01:10:1.")
]


def calibrate(
    context: typer.Context,
    space: SpaceArgument,
    data: Data = None,
    at: At = "eer",
    kind: Score = None,
    open_set: OpenSet = False,
    trials: Trials = None,
    root: Root = None,
    label: LabelColumn = None,
    most_items: MostPaired = PAIRED_ITEMS,
    seed: PairedSeed = 0,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Fit the thresholds of a space, store them in it, and report how reliable they are.

    Without --kind, --open-set and --trials the temperatures of its class probabilities are fitted as well.
    """
    from samekind.questions.calibrate import (
        calibrate,
        calibrate_on_list,
        calibrate_open_set,
        expect_possible,
    )

    check_together(context, TOGETHER)
    with changed_space(space, device) as opened:
        expect_possible(opened.space, point=at, kind=kind)
        if trials is not None:
            answer = calibrate_on_list(opened.space, trials, root=root, kind=kind, point=at)
        else:
            items = _held_out(opened, data, label=label, skip_unreadable=skip_unreadable)
            if open_set:
                answer = calibrate_open_set(opened.space, items, kind=kind, point=at)
            else:
                answer = calibrate(
                    opened.space, items, kind=kind, point=at, limit=most_items, seed=seed, progress=bar
                )
    _tell(answer, space, as_json=as_json)


def _held_out(opened: "OpenSpace", data: str | None, *, label: str | None, skip_unreadable: bool) -> "Items":
    """The items of DATA, with a warning if they were trained on, or the validation items of the run."""
    if data is None:
        return opened.validation_items()
    items = opened.read_labelled(data, label=label, skip_unreadable=skip_unreadable)
    if opened.trained_on([data]):
        print_messages(PROMISES_TOO_MUCH.format(data=data))
    return items


def _tell(answer: "Calibrated", folder: Path, *, as_json: bool) -> None:
    if answer.note is not None:
        print_messages(answer.note)
    if as_json:
        print_json({"space": str(folder), **answer.to_json()})
        return
    print_text(f"Fitted on {next(iter(answer.decisions.values())).trials}")
    print_table(thresholds_table(answer.decisions))
    for name in answer.decisions:
        if (warning := answer.warning(name)) is not None:
            print_messages(f"careful ({name}): {warning}")
    if answer.temperatures:
        print_temperatures(answer.temperatures)
