"""samekind init: a look at the data, a few questions, and a run file to start from."""

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from typer import Argument, Option

from samekind.cli import options
from samekind.cli.opening import open_items
from samekind.cli.output import print_json, print_text
from samekind.cli.train import data_options, split_options
from samekind.errors import DataError, SettingError, nearest

#: The recipe for each purpose.
WANTS = {
    "best": "house",
    "everything": "prototypical",
    "same-or-different": "verification",
    "baseline": "triplet",
    "unseen-classes": "unseen-proxy-nca-adapt-adv",
}


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
    from samekind.data.words import counted_items
    from samekind.recipes.plans import read_plan
    from samekind.recipes.run_file import run_file
    from samekind.storage import write_text

    if out.suffix != ".toml":
        raise SettingError(f"a run file ends in .toml; got {out.name}")
    if out.exists() and not force:
        raise SettingError(f"{out} exists already; choose another name with --out, or --force to replace it")
    label = label or _ask_label(data)
    recipe = _recipe(want)
    plan = read_plan(
        recipe,
        source=data,
        data=data_options(label, size, skip_unreadable, path=path, ignore=ignore, taxonomy=taxonomy),
        split=split_options(split, unseen, ""),
        training={} if epochs is None else {"epochs": epochs},
    )
    items = open_items(plan)
    write_text(out, run_file(plan, items, out))
    if as_json:
        print_json({"run": str(out), "recipe": recipe, "items": len(items), "classes": list(items.classes)})
        return
    print_text(f"{items.name}: {counted_items(len(items), len(items.classes))}.")
    print_text(f"The run is in {out}; next: samekind train {quote(str(out))}")


def _recipe(want: str | None) -> str:
    """The recipe for a purpose, which is asked for at a terminal, or the recipe of that name."""
    from samekind.recipes import RECIPES

    if want is None:
        want = "best"
        if sys.stdin.isatty():
            want = str(typer.prompt(f"What is it for? ({', '.join(WANTS)})", default=want, err=True))
    if want not in WANTS and want not in RECIPES:
        raise SettingError(f'--want: there is no "{want}"; {nearest(want, [*WANTS, *RECIPES])}')
    return WANTS.get(want, want)


def _ask_label(data: str) -> str | None:
    """The label column of a table without a column "label": asked for at a terminal, else DataError."""
    from samekind.data import DataSettings
    from samekind.data.sources.table_files import column_names, is_table

    columns = column_names(Path(data)) if is_table(Path(data)) else None
    if columns is None or DataSettings().label in columns:
        return None
    if not sys.stdin.isatty():
        raise DataError(
            f'{data} has no column "label"; name the column of the class with --label: {", ".join(columns)}'
        )
    return str(typer.prompt(f"Which column is the class? ({', '.join(columns)})", err=True))
