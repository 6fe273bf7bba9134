"""samekind init: a look at the data, a few questions, and a run file to start from."""

import os
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.errors import DataError, SamekindError, SettingError, nearest

if TYPE_CHECKING:
    from samekind.data import Items, SplitSettings
    from samekind.recipes.plans import Plan
    from samekind.training import Part, Run

#: The recipe for each purpose.
WANTS = {
    "best": "house",
    "everything": "prototypical",
    "same-or-different": "verification",
    "baseline": "triplet",
    "unseen-classes": "unseen-proxy-nca-adapt-adv",
}

UNSEEN = '# unseen = ["…", "…"]      # classes that are not trained on, to test on; or "half", "random-half"'

CHOOSE_BY = "# validation_classes = 0.2  # the share of the seen classes that chooses the best epoch"


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help=f"What to learn from: {options.OPENED}.")],
    out: Annotated[Path, typer.Option(help="The run file to write.")] = Path("run.toml"),
    want: Annotated[
        str | None,
        typer.Option(
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
    epochs: Annotated[int | None, typer.Option(help="How long to train.", min=1)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run file that exists.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Look at the data, ask what it is for, and write a commented run file.

    Nothing is asked if the answer is given as an option, or without a terminal.
    """
    from samekind.cli.opening import open_items
    from samekind.cli.output import print_json, print_text
    from samekind.cli.train import data_options, split_options
    from samekind.recipes.plans import read_plan
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
    text = _text(plan, items, out)
    write_text(out, text)
    if as_json:
        print_json({"run": str(out), "recipe": recipe, "items": len(items), "classes": list(items.classes)})
        return
    print_text(f"{items.name}: {_counted(items)}.")
    print_text(f"The run is in {out}; next: samekind train {quote(str(out))}")


def _text(plan: "Plan", items: "Items", out: Path) -> str:
    """The run file of a plan, with further settings as comments. Raises SamekindError if the plan names a
    split that does not fit the items.
    """
    from samekind.data import DataSettings, SplitSettings

    splitting = plan.splitting(items, seed=plan.run(items).seed)
    own, run = _runs(plan, items, splitting)
    extent = items.medium.extent(items.shape)
    settings = plan.data.to_dict()
    if plan.data.taxonomy is not None:
        settings["taxonomy"] = _beside(plan.data.taxonomy, out)
    data = _changed(settings, DataSettings().to_dict())
    split = _changed(splitting.to_dict(), SplitSettings().to_dict())
    lines = [
        f"# {_counted(items)}, each {extent}.",
        f"# samekind train FILE does what this file says; --set epochs={run.epochs} overrides it.",
        "",
        *_recipe_lines(plan, run),
        f"seed = {run.seed}",
        "",
        "[data]",
        f"source = {_toml(_source(plan.source, out))}",
        *data.values(),
    ]
    lines += [f"# {key} = {hint}" for key, hint in _hints(items).items() if key not in data]
    lines += [
        "",
        "[split]",
        f"by = {_toml(splitting.by)}              # random, group, domain, or part (as the data says)",
        *(line for key, line in split.items() if key != "by"),
        *([] if "unseen" in split else [UNSEEN]),
        *([CHOOSE_BY] if plan.recipe.startswith("unseen-") else []),
        "# fractions = { train = 0.6, validation = 0.2, test = 0.2 }",
        "",
        *(_house_settings(run) if plan.recipe == "house" else _settings(run, own)),
        "",
    ]
    if "size" in items.medium.settings:
        lines += [
            "# [[augment]]              # what is done to training pictures, first to last",
            '# name = "PadAndCrop"',
            f"# padding = {max(1, items.shape[-1] // 8)}",
            "",
        ]
    return "\n".join(lines)


def _runs(plan: "Plan", items: "Items", splitting: "SplitSettings") -> tuple["Run", "Run"]:
    """The run of the recipe itself, and the one that suits the items it would be trained on."""
    from samekind.data.split_settings import split_items

    try:
        # Only the split: the sets would be copies of the items.
        trained = split_items(items, splitting).parts["train"]
    except SamekindError:
        if plan.split:
            raise
        own = plan.run(items)
        return own, own
    own = plan.run(items.take(trained))
    return own, plan.suited(own, items, items=len(trained))


def _recipe_lines(plan: "Plan", run: "Run") -> list[str]:
    """The recipe, and the epochs: those of the house recipe follow from the data unless they are given."""
    if plan.recipe != "house":
        others = "house: the best of what it measures; prototypical: every question; verification: pairs"
        return [f'recipe = "{plan.recipe}"  # {others}; triplet: the baseline', f"epochs = {run.epochs}"]
    open_epochs = f"# epochs = {run.epochs}             # follows from the data, unless it is set"
    return [
        'recipe = "house"  # measures what training gives, and keeps the best; prototypical, …: of papers',
        f"epochs = {run.epochs}" if "epochs" in plan.training else open_epochs,
        "# compress = 64           # numbers of an embedding, fewer after the training",
    ]


def _house_settings(run: "Run") -> list[str]:
    """Settings of the house recipe, which follow from the data, as comments."""
    return [
        "# [batches]",
        f"# size = {run.batches.arguments.get('size', 64)}",
        "# [optimiser]",
        f"# rate = {run.optimiser.rate}",
    ]


def _settings(run: "Run", own: "Run") -> list[str]:
    """The tables of a paper's recipe that are changed most often."""
    return [
        "[batches]",
        f"size = {run.batches.arguments.get('size', 64)}",
        "",
        *_chosen(run, own),
        "[optimiser]",
        *_other_optimiser(run, own),
        f"rate = {run.optimiser.rate}",
    ]


def _hints(items: "Items") -> dict[str, str]:
    """Settings of the data, with a comment on each."""
    hints = {
        "size": f"{items.shape[-1]}               # pictures are read this many pixels wide and high",
        "channels": f"{items.medium.seen(items.shape)[0]}            # 1 grey, 3 colour",
        "fit": '"stretch"          # or "crop", "pad": what happens to other proportions',
        "original_size": "true     # also learn from the width and height before resizing",
        "rate": "16000             # samples a second, or 8000",
        "seconds": "30             # of a longer sound the middle is read",
        "skip_unreadable": "true   # leave out files that cannot be read",
        "ignore": "[]              # columns to leave out",
    }
    return {name: hints[name] for name in items.medium.settings}


def _chosen(run: "Run", own: "Run") -> list[str]:
    """The tables that differ from the recipe because the pictures are few."""
    from samekind.recipes.few_items import chosen

    lines: list[str] = []
    for name, (other, part) in chosen(own, run).items():
        if name in ("optimiser", "epochs"):  # every file has these
            continue
        place, was = ("", other.name) if name == "schedule" else ("space.", _in_words(other))
        arguments = {} if name == "schedule" else part.arguments
        lines += [f"[{place}{name}]", _instead("name", part.name, was)]
        lines += [*(f"{key} = {_toml(value)}" for key, value in arguments.items()), ""]
    return lines


def _other_optimiser(run: "Run", own: "Run") -> list[str]:
    """The name of an optimiser that is not the recipe's, and the weight decay, which a new name sets to 0."""
    if run.optimiser.name == own.optimiser.name:
        return []
    decay = f"weight_decay = {run.optimiser.weight_decay}"
    return [_instead("name", run.optimiser.name, f"{own.optimiser.name} at {own.optimiser.rate}"), decay]


def _in_words(part: "Part") -> str:
    """A part: its name and its arguments.

    >>> from samekind.training import Part
    >>> _in_words(Part("RunningAverages", {"momentum": 0.9}))
    'RunningAverages, momentum 0.9'
    """
    return ", ".join([part.name, *(f"{key} {value}" for key, value in part.arguments.items())])


def _instead(key: str, value: str, own: str) -> str:
    return f"{key} = {_toml(value)}  # for few pictures; the recipe itself has {own}"


def _counted(items: "Items") -> str:
    from samekind.data.words import counted

    number = len(items.classes)
    return f"{counted(len(items), 'item', 'items')} of {counted(number, 'class', 'classes')}"


def _changed(settings: dict[str, Any], defaults: dict[str, Any]) -> dict[str, str]:
    """A line for each setting that is not the default."""
    return {key: f"{key} = {_toml(value)}" for key, value in settings.items() if value != defaults[key]}


def _toml(value: Any) -> str:
    """A text, number, boolean or list in TOML, which is the same as in JSON."""
    import json

    return json.dumps(value, ensure_ascii=False)


def _source(source: str, out: Path) -> str:
    """The path of the data relative to the run file; the name of known data as it is."""
    from samekind.data.sources import is_named

    return source if is_named(source) else _beside(source, out)


def _beside(path: str, out: Path) -> str:
    """A path relative to the run file, so that both can be moved together."""
    try:
        return Path(os.path.relpath(path, out.parent.absolute())).as_posix()
    except ValueError:  # on another drive
        return path


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
