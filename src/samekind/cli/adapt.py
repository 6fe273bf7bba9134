"""samekind adapt: the scores of a space brought to another domain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, LabelColumn, SkipUnreadable, SpaceArgument
from samekind.cli.output import print_messages, print_table, print_text, render, table
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space

if TYPE_CHECKING:
    from samekind.questions.adapt import Adapted

Data = Annotated[str, Argument(metavar="DATA", help="Items of the new domain: a folder, table or archive.")]
Out = Annotated[Path, Option(help="Save the adapted space here.")]
Labels = Annotated[
    bool | None,
    Option(
        "--labels/--no-labels",
        help="Use the classes of DATA, or the items alone.",
        show_default="the classes, where every item has one",
    ),
]


def adapt(
    space: SpaceArgument,
    data: Data,
    out: Out,
    labels: Labels = None,
    label: LabelColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Bring the fitted scores (PLDA) of a space to another domain, such as other rooms or microphones.

    Nothing is trained, and SPACE stays as it is. With the classes of DATA, half of them first show what
    adapting to the other half gains.
    """
    from samekind import questions
    from samekind.questions.adapt import expect_adaptable
    from samekind.questions.changing import changing

    with changing(out) as save:
        opened = open_space(space, device)
        expect_adaptable(opened.space)  # before anything is read
        items = opened.read_known(data, labels, label=label, skip_unreadable=skip_unreadable)
        new, answer = questions.adapt(opened.space, items, progress=bar)
        save(new)
    render({"space": out, **answer.to_json()}, lambda: _print(answer, out), as_json=as_json)


def _print(answer: "Adapted", folder: Path) -> None:
    labels = "without labels" if answer.classes is None else f"of {answer.classes:,} classes"
    print_text(f"Adapted to {answer.items:,} items {labels}: {', '.join(answer.kinds)}; saved in {folder}.")
    if answer.measured is not None:
        measured = answer.measured
        print_text(
            f"Measured first: on {measured.items:,} items of {measured.classes:,} classes, adapted to the "
            "others."
        )
        print_table(
            table(
                "EER on classes that were not adapted to",
                ["score", "before", "after"],
                [
                    [kind, f"{measured.before[kind]:.2%}", f"{measured.after[kind]:.2%}"]
                    for kind in answer.kinds
                ],
            )
        )
    print_messages(*(f"careful: {warning}" for warning in answer.warnings))
    if answer.dropped:
        print_messages(
            f"thresholds of the old scores were left out ({', '.join(answer.dropped)}); fit new ones on "
            f"labelled items of the new domain: samekind calibrate {folder} DATA"
            + (" (and again with --open-set)" if "none of these" in answer.dropped else "")
        )
