"""samekind check: what is in the data, what is wrong with it, and what a training run would do with it."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import (
    OPENED,
    AsJson,
    Changes,
    Ignore,
    Label,
    PathColumn,
    Size,
    SkipUnreadable,
    SplitBy,
    Unseen,
)

if TYPE_CHECKING:
    from samekind.cli.plans import Plan
    from samekind.data import Examination, Items, Split
    from samekind.training import Run

MOST_SHOWN = 20
#: A run of fewer steps has hardly begun; so many are enough for few items.
FEWEST_STEPS, ENOUGH_STEPS = 50, 200
#: So many items the space of a run is shown, to see whether it takes them.
SHOWN = 16


def check(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help=f"What to look at: {OPENED}; or a run file (.toml).",
        ),
    ],
    recipe: Annotated[str, typer.Option(help="The recipe a training run would use.")] = "prototypical",
    label: Label = None,
    path: PathColumn = None,
    ignore: Ignore = "",
    size: Size = None,
    skip_unreadable: SkipUnreadable = False,
    split: SplitBy = None,
    unseen: Unseen = "",
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Look at every item and say what is there, what is wrong, and what training would do with it.

    The exit status is 1 where something is wrong that training would refuse.
    """
    from samekind.cli.output import print_json
    from samekind.cli.plans import read_plan
    from samekind.cli.train import data_options, split_options
    from samekind.data import examine

    is_file = data.endswith(".toml")
    plan = read_plan(
        data if is_file else recipe,
        changes or [],
        source=None if is_file else data,
        data=data_options(label, size, skip_unreadable, path=path, ignore=ignore),
        split=split_options(split, unseen, ""),
    )
    found = examine(plan.source, settings=plan.data, split=partial(_split, plan))
    would, why_not = _training(plan) if not found.errors else (None, None)
    warnings = [*found.warnings, *([*would.pop("warnings"), *_few_steps(would)] if would else [])]
    refused = [*found.errors, *([why_not] if why_not else [])]
    if as_json:
        # The sizes last: there may be as many as pictures, and the rest would be hidden behind them.
        told = {**_as_json(found), "warnings": warnings, "errors": refused, "training": would}
        print_json({**told, "sizes": _sizes(found)})
    else:
        _print(found, refused, warnings, would)
    if refused:
        raise typer.Exit(1)


def _split(plan: "Plan", items: "Items") -> "Split | None":
    """The split a run would make of these items, so that copies in two parts are found; None where it cannot
    be made, which `_training` says.
    """
    from samekind.data import prepare
    from samekind.errors import SamekindError

    try:
        return prepare(items, plan.splitting(items, seed=plan.run(items).seed)).split
    except SamekindError:
        return None


def _training(plan: "Plan") -> tuple[dict[str, Any] | None, str | None]:
    """What a run would do with the data, or why it cannot."""
    from dataclasses import replace

    from samekind.cli.plans import chosen_in_words
    from samekind.data import open_data, prepare
    from samekind.errors import SamekindError
    from samekind.evaluation import validation
    from samekind.training.build import build_sampler

    try:
        # Left on the disk: a look must not take the memory of a training.
        items = open_data(plan.source, settings=replace(plan.data, memory="never"))
        own = plan.run(items)
        split = plan.splitting(items, seed=own.seed)
        sets = prepare(items, split)
        run = plan.suited(own, items, items=len(sets.train))
        # Everything that refuses, as training would: what no epoch can be chosen by, and what does not fit.
        for part in (sets.validation, *([sets.test] if run.select_on == "test" else [])):
            validation(part, run.validate, watch=run.watch)
        _build(run, sets.train)
        sampler = build_sampler(run, sets.train.labels, domains=sets.train.domains)
    except SamekindError as error:
        return None, str(error)
    parts = {"train": sets.train, "validation": sets.validation, **sets.tests()}
    return {
        "recipe": run.recipe,
        "encoder": run.space.encoder.name,
        "shape": list(items.shape),
        "split": split.by,
        "items": {name: len(part) for name, part in parts.items()},
        "classes": {name: len(set(part.labels.tolist())) for name, part in parts.items()},
        "epochs": run.epochs,
        "steps": run.epochs * len(sampler.batches(0)),
        "chosen": chosen_in_words(own, run),
        "warnings": [torn] if (torn := sets.torn()) else [],
    }, None


def _few_steps(would: dict[str, Any]) -> list[str]:
    """A warning where nothing is learned in so few steps."""
    if would["steps"] >= FEWEST_STEPS:
        return []
    epochs = -(-ENOUGH_STEPS * would["epochs"] // would["steps"])
    return [
        f"a run of {would['steps']:,} steps is short, and may learn little; "
        f"--set epochs={epochs} makes it long enough"
    ]


def _build(run: "Run", items: "Items") -> None:
    """What a training builds before its first step, for a few of the items: more would have to be read."""
    import torch

    from samekind.training.build import (
        build_augmentations,
        build_memory,
        build_optimiser,
        build_space,
    )
    from samekind.training.extras import build_extras, parameter_groups_of
    from samekind.training.terms import build_penalties, build_terms
    from samekind.training.untrained import expect_trained

    few = items.take(torch.arange(min(len(items), SHOWN)))
    with torch.random.fork_rng([]):
        space = build_space(run, few)
        # Whether the encoder will begin with weights is not the run's to say: `train --from` may give them.
        expect_trained(run, space, begun=["encoder"])
        build_terms(run, space)
        build_penalties(run)
        build_memory(run, space)
        build_augmentations(run, few)
        groups = parameter_groups_of(build_extras(run, space, few))
        build_optimiser(run.optimiser, space, beside=groups)


def _sizes(found: "Examination") -> dict[str, int]:
    return {f"{width}x{height}": count for (height, width), count in found.sizes.items()}


def _as_json(found: "Examination") -> dict[str, Any]:
    return {
        "name": found.name,
        "items": found.items,
        "classes": found.classes,
        "memory": found.memory,
        "domains": found.domains,
        "groups": found.groups,
        "parts": found.parts,
        "unreadable": [{"file": file, "reason": reason} for file, reason in found.unreadable],
        "duplicates": found.duplicates,
    }


def _print(
    found: "Examination", refused: list[str], warnings: list[str], would: dict[str, Any] | None
) -> None:
    from samekind.cli.output import print_table, print_text, table

    print_text(f"{found.name}: {_items(found.items, len(found.classes))}{_more(found)}")
    largest = sorted(found.classes.items(), key=lambda each: -each[1])
    lines = [[name, f"{count:,}"] for name, count in largest[:MOST_SHOWN]]
    if len(largest) > MOST_SHOWN:
        rest = largest[MOST_SHOWN:]
        lines.append([f"{len(rest)} more classes", f"{sum(count for _, count in rest):,}"])
    if lines:
        print_table(table("Classes", ["class", "items"], lines))
    for words, sentences in (("error", refused), ("warning", warnings)):
        for sentence in sentences:
            print_text(f"{words}: {sentence}")
    for file, reason in found.unreadable[:MOST_SHOWN]:
        print_text(f"  unreadable: {' '.join(reason.split()) or file}")
    if len(found.unreadable) > MOST_SHOWN:
        print_text(f"  and {len(found.unreadable) - MOST_SHOWN} more unreadable, which --json names")
    for group in found.duplicates[:MOST_SHOWN]:
        print_text(f"  same content: {', '.join(group)}")
    if would is not None:
        print_text(f"\n{_plan_in_words(would)}")


def _items(items: int, classes: int) -> str:
    from samekind.data.words import counted

    return f"{counted(items, 'item', 'items')} of {counted(classes, 'class', 'classes')}"


def _more(found: "Examination") -> str:
    from samekind.data.words import counted

    said = []
    if found.sizes:
        (height, width), most = max(found.sizes.items(), key=lambda each: each[1])
        others = (
            f" and {counted(len(found.sizes) - 1, 'other size', 'other sizes')}"
            if len(found.sizes) > 1
            else ""
        )
        said.append(f"pictures of {width} x {height} pixels ({most:,}){others}")
    if found.domains:
        said.append(counted(len(found.domains), "domain", "domains"))
    if found.groups:
        said.append(counted(found.groups, "group", "groups"))
    if found.parts:
        said.append("parts " + ", ".join(f"{name} {count:,}" for name, count in found.parts.items()))
    if found.memory:
        said.append(f"{found.memory / 2**20:,.1f} MiB once read")
    return "; " + "; ".join(said) if said else ""


def _plan_in_words(would: dict[str, Any]) -> str:
    shape = " x ".join(str(each) for each in would["shape"])
    parts = ", ".join(
        f"{name} {_items(count, would['classes'][name])}" for name, count in would["items"].items()
    )
    whole = ", no group in two parts" if would["split"] == "group" else ""
    return (
        f"A run of {would['recipe']} would train {would['encoder']} on items of {shape} for "
        f"{would['epochs']} epochs, {would['steps']:,} steps.{_why(would)} "
        f"Split ({would['split']}{whole}): {parts}."
    )


def _why(would: dict[str, Any]) -> str:
    """What was chosen because the items are few, where anything was."""
    from samekind.cli.plans import because_few

    said = because_few(would["chosen"])
    return f" {said[0].upper()}{said[1:]}." if said else ""
