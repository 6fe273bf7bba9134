"""A plan as a commented run file."""

import json
import os
from pathlib import Path
from typing import Any

from samekind.data import DataSettings, Items, SplitSettings
from samekind.data.sources import is_named
from samekind.data.split_settings import split_items
from samekind.data.words import counted_items
from samekind.errors import SamekindError
from samekind.recipes.few_items import chosen
from samekind.recipes.plans import Plan
from samekind.training import Part, Run

UNSEEN = '# unseen = ["…", "…"]      # classes that are not trained on, to test on; or "half", "random-half"'

CHOOSE_BY = "# validation_classes = 0.2  # the share of the seen classes that chooses the best epoch"


def run_file(plan: Plan, items: Items, out: Path) -> str:
    """The text of the run file that is to be at ``out``, with further settings as comments.

    Raises SamekindError if the plan names a split that does not fit the items.
    """
    splitting = plan.splitting(items, seed=plan.run(items).seed)
    own, run = _runs(plan, items, splitting)
    extent = items.medium.extent(items.shape)
    lines = [
        f"# {counted_items(len(items), len(items.classes))}, each {extent}.",
        f"# samekind train FILE does what this file says; --set epochs={run.epochs} overrides it.",
        "",
        *_recipe_lines(plan, run),
        f"seed = {run.seed}",
        "",
        *_data_lines(plan, items, out),
        "",
        *_split_lines(plan, splitting),
        "",
        *_settings(run, own),
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


def _data_lines(plan: Plan, items: Items, out: Path) -> list[str]:
    """The table of the data; settings that have their defaults are comments."""
    settings = plan.data.to_dict()
    if plan.data.taxonomy is not None:
        settings["taxonomy"] = _beside(plan.data.taxonomy, out)
    data = _changed(settings, DataSettings().to_dict())
    source = plan.source if is_named(plan.source) else _beside(plan.source, out)
    hints = [f"# {key} = {hint}" for key, hint in _hints(items).items() if key not in data]
    return ["[data]", f"source = {_toml(source)}", *data.values(), *hints]


def _split_lines(plan: Plan, splitting: SplitSettings) -> list[str]:
    """The table of the split, with comments on what is left out."""
    split = _changed(splitting.to_dict(), SplitSettings().to_dict())
    return [
        "[split]",
        f"by = {_toml(splitting.by)}              # random, group, domain, or part (as the data says)",
        *(line for key, line in split.items() if key != "by"),
        *([] if "unseen" in split else [UNSEEN]),
        *([CHOOSE_BY] if plan.recipe.startswith("unseen-") else []),
        "# fractions = { train = 0.6, validation = 0.2, test = 0.2 }",
    ]


def _runs(plan: Plan, items: Items, splitting: SplitSettings) -> tuple[Run, Run]:
    """The run of the recipe itself, and the one that suits the items it would be trained on."""
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


def _recipe_lines(plan: Plan, run: Run) -> list[str]:
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


def _settings(run: Run, own: Run) -> list[str]:
    """The tables that are changed most often; as comments for the house recipe, which follows the data."""
    batches = ["[batches]", f"size = {run.batches.arguments.get('size', 64)}"]
    rate = f"rate = {run.optimiser.rate}"
    if run.recipe == "house":
        return [f"# {line}" for line in (*batches, "[optimiser]", rate)]
    return [*batches, "", *_chosen(run, own), "[optimiser]", *_other_optimiser(run, own), rate]


def _hints(items: Items) -> dict[str, str]:
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


def _chosen(run: Run, own: Run) -> list[str]:
    """The tables that differ from the recipe because the pictures are few."""
    lines: list[str] = []
    for name, (other, part) in chosen(own, run).items():
        if name in ("optimiser", "epochs"):  # every file has these
            continue
        place, was = ("", other.name) if name == "schedule" else ("space.", _in_words(other))
        arguments = {} if name == "schedule" else part.arguments
        lines += [f"[{place}{name}]", _instead("name", part.name, was)]
        lines += [*(f"{key} = {_toml(value)}" for key, value in arguments.items()), ""]
    return lines


def _other_optimiser(run: Run, own: Run) -> list[str]:
    """The name of an optimiser that is not the recipe's, and the weight decay, which a new name sets to 0."""
    if run.optimiser.name == own.optimiser.name:
        return []
    decay = f"weight_decay = {run.optimiser.weight_decay}"
    return [_instead("name", run.optimiser.name, f"{own.optimiser.name} at {own.optimiser.rate}"), decay]


def _in_words(part: Part) -> str:
    """A part: its name and its arguments.

    >>> from samekind.training import Part
    >>> _in_words(Part("RunningAverages", {"momentum": 0.9}))
    'RunningAverages, momentum 0.9'
    """
    return ", ".join([part.name, *(f"{key} {value}" for key, value in part.arguments.items())])


def _instead(key: str, value: str, own: str) -> str:
    return f"{key} = {_toml(value)}  # for few pictures; the recipe itself has {own}"


def _changed(settings: dict[str, Any], defaults: dict[str, Any]) -> dict[str, str]:
    """A line for each setting that is not the default."""
    return {key: f"{key} = {_toml(value)}" for key, value in settings.items() if value != defaults[key]}


def _toml(value: Any) -> str:
    """A text, number, boolean or list in TOML, which is the same as in JSON."""
    return json.dumps(value, ensure_ascii=False)


def _beside(path: str, out: Path) -> str:
    """A path relative to the run file, so that both can be moved together."""
    try:
        return Path(os.path.relpath(path, out.parent.absolute())).as_posix()
    except ValueError:  # on another drive
        return path
