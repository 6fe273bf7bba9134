"""samekind init: a look at the data, a few questions, and a run file to start from."""

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_text, render
from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.questions.init import RunFile

#: The purpose where none is named.
BEST = "best"


def init(
    data: Annotated[str, Argument(metavar="DATA", help=f"What to learn from: {options.OPENED}.")],
    out: Annotated[Path, Option(help="The run file to write.")] = Path("run.toml"),
    want: Annotated[
        str | None,
        Option(
            help="What for: best (what the house recipe measures to be best), or a paper's system for "
            "everything, same-or-different (pairs alone), baseline (triplets) or unseen-classes; or the name "
            "of a recipe.",
            show_default="asked for, or best",
        ),
    ] = None,
    label: options.Label = None,
    path: options.PathColumn = None,
    ignore: options.Ignore = "",
    size: options.Size = None,
    taxonomy: options.Taxonomy = None,
    skip_unreadable: options.SkipUnreadable = False,
    split: options.SplitBy = None,
    unseen: options.Unseen = "",
    epochs: Annotated[int | None, Option(help="How long to train.", min=1)] = None,
    force: Annotated[bool, Option("--force", help="Replace a run file that exists.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Look at the data, ask what it is for, and write a commented run file.

    Nothing is asked if the answer is given as an option, or without a terminal.
    """
    from samekind.questions.init import expect_free, recipe_for, write_run_file
    from samekind.questions.plan_options import PlanOptions

    expect_free(out, replace=force)
    plan = PlanOptions(
        source=data,
        label=label or _ask_label(data),
        path=path,
        ignore=options.names(ignore),
        size=size,
        taxonomy=taxonomy,
        skip_unreadable=skip_unreadable,
        split=split,
        unseen=options.unseen_names(unseen),
        epochs=epochs,
    ).plan(recipe_for(want or _ask_purpose()))
    answer = write_run_file(out, plan, warn=print_messages)
    render({"run": out, **answer.to_json()}, lambda: _print(answer, out), as_json=as_json)


def _print(answer: "RunFile", out: Path) -> None:
    from samekind.data.words import counted_items

    print_text(f"{answer.data}: {counted_items(answer.items, len(answer.classes))}.")
    print_text(f"The run is in {out}; next: samekind train {quote(str(out))}")


def _ask_purpose() -> str:
    """What the run is for: asked for at a terminal, else "best"."""
    from samekind.questions.init import PURPOSES

    if not sys.stdin.isatty():
        return BEST
    return str(typer.prompt(f"What is it for? ({', '.join(PURPOSES)})", default=BEST, err=True))


def _ask_label(data: str) -> str | None:
    """The label column of a table without a column "label": asked for at a terminal, else DataError."""
    from samekind.questions.init import columns_without_label

    columns = columns_without_label(data)
    if not columns:
        return None
    if not sys.stdin.isatty():
        raise DataError(
            f'{data} has no column "label"; name the column of the class with --label: {", ".join(columns)}'
        )
    return str(typer.prompt(f"Which column is the class? ({', '.join(columns)})", err=True))
