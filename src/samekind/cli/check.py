"""samekind check: what is in the data, what is wrong with it, and what a training run would do with it."""

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from samekind.cli import options
from samekind.cli.output import print_table, print_text, render, table

if TYPE_CHECKING:
    from samekind.data import Examination
    from samekind.questions.check import Checked, PlannedTraining

LINES_SHOWN = 20

Data = Annotated[
    str, Argument(metavar="DATA", help=f"What to look at: {options.OPENED}; or a run file (.toml).")
]


def check(
    data: Data,
    recipe: Annotated[str, Option(help="The recipe a training run would use.")] = options.HOUSE,
    label: options.Label = None,
    path: options.PathColumn = None,
    ignore: options.Ignore = "",
    size: options.Size = None,
    skip_unreadable: options.SkipUnreadable = False,
    split: options.SplitBy = None,
    unseen: options.Unseen = "",
    changes: options.Changes = None,
    as_json: options.AsJson = False,
) -> None:
    """Look at every item: what is there, what is wrong, and what training would do with it.

    The exit status is 1 if training would refuse the data.
    """
    from samekind import questions
    from samekind.questions.plan_options import PlanOptions

    is_file = data.endswith(".toml")
    plan = PlanOptions(
        source=None if is_file else data,
        label=label,
        path=path,
        ignore=options.names(ignore),
        size=size,
        skip_unreadable=skip_unreadable,
        split=split,
        unseen=options.unseen_names(unseen),
        changes=tuple(changes or ()),
    ).plan(data if is_file else recipe)
    answer = questions.check(plan)
    render(answer.to_json(), lambda: _print(answer), as_json=as_json)
    if answer.errors:
        raise typer.Exit(1)


def _print(answer: "Checked") -> None:
    from samekind.data.words import counted_items

    data = answer.examination
    print_text(f"{data.name}: {counted_items(data.items, len(data.classes))}{_more(data)}")
    largest = sorted(data.classes.items(), key=lambda item: -item[1])
    lines = [[name, f"{count:,}"] for name, count in largest[:LINES_SHOWN]]
    if rest := largest[LINES_SHOWN:]:
        lines.append([f"{len(rest)} more classes", f"{sum(count for _, count in rest):,}"])
    if lines:
        print_table(table("Classes", ["class", "items"], lines))
    for severity, sentences in (("error", answer.errors), ("warning", answer.warnings)):
        for sentence in sentences:
            print_text(f"{severity}: {sentence}")
    if answer.enough_epochs is not None:
        print_text(f"  --set epochs={answer.enough_epochs} asks for so many")
    for file, reason in data.unreadable[:LINES_SHOWN]:
        print_text(f"  unreadable: {' '.join(reason.split()) or file}")
    if len(data.unreadable) > LINES_SHOWN:
        print_text(f"  and {len(data.unreadable) - LINES_SHOWN} more unreadable, which --json names")
    for copies in data.duplicates[:LINES_SHOWN]:
        print_text(f"  same content: {', '.join(copies)}")
    if answer.training is not None:
        print_text(f"\n{_in_words(answer.training)}")


def _more(data: "Examination") -> str:
    """Sizes, domains, groups, parts and memory, where there are any."""
    from samekind.data.words import counted

    facts = []
    if data.sizes:
        (height, width), most = max(data.sizes.items(), key=lambda item: item[1])
        others = len(data.sizes) - 1
        more = f" and {counted(others, 'other size', 'other sizes')}" if others else ""
        facts.append(f"pictures of {width} x {height} pixels ({most:,}){more}")
    if data.domains:
        facts.append(counted(len(data.domains), "domain", "domains"))
    if data.groups:
        facts.append(counted(data.groups, "group", "groups"))
    if data.parts:
        facts.append("parts " + ", ".join(f"{name} {count:,}" for name, count in data.parts.items()))
    if data.memory:
        facts.append(f"{data.memory / 2**20:,.1f} MiB once read")
    return "".join(f"; {fact}" for fact in facts)


def _in_words(training: "PlannedTraining") -> str:
    from samekind.data.words import counted_items

    parts = ", ".join(
        f"{name} {counted_items(count, training.classes[name])}" for name, count in training.items.items()
    )
    few = training.because_few
    why = f" {few[0].upper()}{few[1:]}." if few else ""
    whole = ", no group in two parts" if training.split == "group" else ""
    length = f"on items of {training.extent} for {training.epochs} epochs, {training.steps:,} steps"
    sentence = f"A run of {training.recipe} would train {training.encoder} {length}."
    if training.recipe == options.HOUSE:
        sentence = (
            f"The house recipe would measure what needs no training, then train {training.encoder} {length}, "
            "and keep what pays."
        )
    return f"{sentence}{why} Split ({training.split}{whole}): {parts}."
