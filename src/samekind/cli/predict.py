"""samekind predict: the class of every item, in a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_text, render
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space, warn_of_training_items
from samekind.cli.thresholds import FITS_ONE

if TYPE_CHECKING:
    from samekind.questions.predict import Predicted

Head = Annotated[str, Option(help="The head that answers: similarity; auxiliary or fused, if trained.")]


def predict(
    data: options.Sources,
    space: options.SpaceFolder,
    out: Annotated[Path, Option(help="The table to write: .csv or .parquet.")],
    head: Head = "similarity",
    kind: options.Kind = None,
    label: options.LabelColumn = None,
    named_by: options.IdColumn = None,
    raw_texts: options.RawTexts = False,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the class of every item, or none of these, with its probability and the runner-up.

    With a threshold for none of these, the score that was compared with it is written as well.
    """
    from samekind import questions
    from samekind.questions.reading import known_head
    from samekind.questions.table_files import check_ending, write_table

    check_ending(out)
    opened = open_space(space, device)
    known_head(opened.space, head)  # a mistake is reported before anything is read
    items = opened.read(data, label=label, named_by=named_by, skip_unreadable=skip_unreadable)
    answer = questions.predict(opened.space, items, head=head, kind=kind, progress=bar)
    write_table(out, answer.columns(), raw_texts=raw_texts)
    if answer.judged:
        warn_of_training_items(opened, data)
    render({"out": out, **answer.to_json()}, lambda: _print(answer, out), as_json=as_json)


def _print(answer: "Predicted", out: Path) -> None:
    from samekind.data.words import counted
    from samekind.questions.identify import NONE

    print_text(f"The classes of {len(answer.ids):,} items are in {out}.")
    print_messages(*(f"{warning}; {FITS_ONE}" for warning in answer.warnings))
    if answer.none is not None:
        strangers = counted(answer.none, "of them is", "of them are")
        print_text(f"{strangers} {NONE}: of no class the space knows, by its threshold.")
    if answer.accuracy is not None:
        print_text(
            f"Of {answer.judged:,} with a label the space knows, {answer.accuracy:.2%} are named rightly."
        )
