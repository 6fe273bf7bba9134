"""samekind train: from a recipe and data to a trained space."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from samekind.cli import options
from samekind.cli.opening import open_items
from samekind.cli.output import messages, print_json, print_messages, print_text
from samekind.cli.progress_bar import Bar
from samekind.errors import SettingError
from samekind.settings import write

if TYPE_CHECKING:
    from samekind.data import Items, Sets
    from samekind.recipes.plans import Plan
    from samekind.space import MetricSpace
    from samekind.training import Part, Run, RunFolder

WHICH = (
    "A recipe or a TOML file. house, the default, measures what training gives and keeps the best; those of "
    "papers are prototypical, verification, triplet, and for unseen classes such as "
    "unseen-proxy-nca-adapt-adv."
)

#: A training that takes so many seconds is announced before it begins.
WORTH_SAYING = 60

#: The recipe where none is named.
HOUSE = "house"

TestDomains = Annotated[
    str, Option("--test-domain", help="Domains to test on, separated by commas; the others are trained on.")
]
Start = Annotated[Path | None, Option("--from", help="Start from the weights of a saved space.")]
At = Annotated[str, Option(help="Where the threshold goes: eer, far=0.01, frr=0.01 or cost=0.01.")]
Minutes = Annotated[
    float | None,
    Option(
        min=0,
        help="The time that the house recipe has; what would take longer is not begun.",
        show_default="none on a GPU, 5 on a CPU",
    ),
]


def train(
    run: Annotated[str, Argument(metavar="[RUN]", help=WHICH, show_default=False)] = HOUSE,
    data: options.Data = None,
    label: options.Label = None,
    path: options.PathColumn = None,
    ignore: options.Ignore = "",
    size: options.Size = None,
    taxonomy: options.Taxonomy = None,
    skip_unreadable: options.SkipUnreadable = False,
    split: options.SplitBy = None,
    unseen: options.Unseen = "",
    test_domains: TestDomains = "",
    out: Annotated[Path | None, Option(help="The folder of the run.", show_default="runs/RECIPE")] = None,
    start: Start = None,
    at: At = "eer",
    minutes: Minutes = None,
    seed: options.Seed = None,
    device: options.Device = "auto",
    changes: options.Changes = None,
    as_json: options.AsJson = False,
) -> None:
    """Train a metric space. The same command goes on where it was stopped."""
    from samekind.questions.evaluate import cautions
    from samekind.recipes import climb, fit
    from samekind.recipes.plans import because_few, chosen_in_words, read_plan
    from samekind.training import RunFolder

    plan = read_plan(
        run,
        changes or [],
        source=data,
        data=data_options(label, size, skip_unreadable, path=path, ignore=ignore, taxonomy=taxonomy),
        split=split_options(split, unseen, test_domains),
        training={} if seed is None else {"seed": seed},
    )
    if run == HOUSE and data is None:
        raise SettingError("name the data to learn from: samekind train --data DATA")
    _expect_together(plan, minutes=minutes, start=start)
    items = open_items(plan)
    first, encoder = _start(start, plan.recipe, items)
    planned = plan.run(items, encoder=encoder)
    with (folder := RunFolder(out or Path("runs") / plan.recipe)).lock():
        sets = plan.sets(folder, items, seed=planned.seed)
        print_messages(*(f"careful: {sentence}" for sentence in cautions(sets)))
        how: Any = {"folder": folder.path, "device": device, "point": at}
        if plan.recipe == HOUSE:
            settings = plan.run(sets.train)
            # Each rung has its line: of the epochs a person sees the two measures that rungs are kept by.
            watcher = Bar(messages(), title=HOUSE, shown=("eer", "recall@1"), pause=10.0)
            tell: Any = print_messages if as_json else print_text  # a line about each rung
            space = climb(sets, run=settings, minutes=minutes, watcher=watcher, tell=tell, **how)
        else:
            settings = plan.suited(planned, items, items=len(sets.train), encoder=encoder)
            few = because_few(chosen_in_words(planned, settings))
            watcher = Bar(messages(), title=settings.recipe, note=few)
            print_messages(*_time_of(settings, sets, folder, device=device))
            space = fit(settings, sets, start=first, watcher=watcher, **how)
    _tell(folder, sets, space, settings, as_json=as_json)


def data_options(
    label: str | None,
    size: int | None,
    skip_unreadable: bool,
    *,
    path: str | None = None,
    ignore: str = "",
    taxonomy: Path | None = None,
) -> dict[str, Any]:
    """The settings of the data that the options give; the run file decides about the others."""
    settings = {
        "label": label,
        "path": path,
        "size": size,
        "skip_unreadable": skip_unreadable or None,
        "ignore": sorted(_names(ignore)) or None,
        "taxonomy": None if taxonomy is None else str(taxonomy),
    }
    return {name: value for name, value in settings.items() if value is not None}


def split_options(by: str | None, unseen: str, test_domains: str) -> dict[str, Any]:
    """The settings of the split that the options give."""
    settings: dict[str, Any] = {} if by is None else {"by": by}
    if unseen in ("half", "random-half"):
        settings["unseen"] = unseen
    elif held_out := sorted(_names(unseen)):
        settings["unseen"] = held_out
    if domains := sorted(_names(test_domains)):
        settings |= {"by": "domain", "test_domains": domains}
    return settings


def _start(folder: Path | None, recipe: str, items: "Items") -> tuple["MetricSpace | None", "Part | None"]:
    """The space that training starts from, and the encoder for its weights, however many items there are now.

    The encoder is that of the run of the space, if it has the same recipe. For a space without its run it is
    the recipe's own, if the space has such a network. None otherwise: then the new run decides.
    """
    from samekind import recipes
    from samekind.encoders.wrapping import network_of
    from samekind.training import RunFolder
    from samekind.training.own_encoder import GIVEN

    if folder is None:
        return None, None
    space, run = RunFolder(folder).space(), RunFolder.around(folder).run()
    if run is not None:
        usable = run.recipe == recipe and run.space.encoder.name != GIVEN
        return space, run.space.encoder if usable else None
    own: Part = recipes.RECIPES[recipe](items).space.encoder
    return space, own if own.name == type(network_of(space.encoder)).__name__ else None


def _names(text: str) -> set[str]:
    """Names separated by commas; a name with a comma is in double quotes.

    >>> sorted(_names('owl, "leaf, underside"'))
    ['leaf, underside', 'owl']
    """
    import csv
    import re

    try:
        closed = re.sub(r'" +(?=,|$)', '"', text)  # csv refuses a space behind a quote
        rows = list(csv.reader([closed], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise SettingError(
            "expected names separated by commas, on one line, with double quotes around a name that has a "
            f"comma; got {text}"
        ) from error
    return {name.strip() for row in rows for name in row if name.strip()}


def _expect_together(plan: "Plan", *, minutes: float | None, start: Path | None) -> None:
    """Raises SettingError for options that do not go together."""
    if plan.recipe != HOUSE and minutes is not None:
        raise SettingError(f"--minutes is for the house recipe; {plan.recipe} trains for its epochs")
    if plan.recipe == HOUSE and start is not None:
        raise SettingError("--from goes on with the training of a paper's recipe; name that recipe")


def _time_of(run: "Run", sets: "Sets", folder: "RunFolder", *, device: str) -> list[str]:
    """About how long a new training will take, if that is more than a minute."""
    from samekind.training.estimate import in_words, seconds_of_training

    if folder.last.exists() or not len(sets.train):
        return []
    seconds = seconds_of_training(run, sets.train, device=device)
    if seconds < WORTH_SAYING:
        return []
    return [
        f"{run.epochs} epochs of {len(sets.train):,} items, about {in_words(seconds)} here; without a "
        "recipe, samekind train --data DATA has a first answer when it has looked at every item once"
    ]


def _tell(folder: "RunFolder", sets: "Sets", space: "MetricSpace", run: "Run", *, as_json: bool) -> None:
    """What was trained, how good it is, where it is, and what to do next."""
    from samekind.questions.choices import choices_in_words

    lines, saved = folder.record.lines(), folder.space_folder()
    best: Mapping[str, Any] | None = next((entry for entry in reversed(lines) if entry["best"]), None)
    if as_json:
        answer: dict[str, Any] = {"folder": str(folder.path), "space": str(saved), "best": best}
        if space.ladder is not None:
            answer |= {"ladder": write(space.ladder)}
        print_json(answer | {"classes": space.classes})
        return
    if space.ladder is not None:  # the rungs were told as they were measured
        print_text(f"Kept: {space.ladder.kept}.")
    else:
        _tell_epochs(run, sets, lines, best)
    for sentence in choices_in_words(space):
        print_text(f"{sentence[0].upper()}{sentence[1:]}.")
    print_text(f"The space is in {saved}; next: samekind evaluate {quote(str(folder.path))}")


def _tell_epochs(
    run: "Run", sets: "Sets", lines: "Sequence[Mapping[str, Any]]", best: Mapping[str, Any] | None
) -> None:
    """How long it was trained, and which epoch was the best."""
    from samekind.data.words import counted
    from samekind.measures.catalogue import write_epoch
    from samekind.training.health import verdict

    sentence = verdict(run, lines)
    if sentence is not None:
        print_text(f"Careful: {sentence}.")
    print_text(
        f"Trained {run.recipe} for {counted(run.epochs, 'epoch', 'epochs')} on {len(sets.train):,} items of "
        f"{len(sets.train.classes)} classes."
    )
    if best is None:
        return
    value = best["validation"][run.watch]
    print_text(f"Best epoch {best['epoch']}: validation {write_epoch(run.watch, value)}.")
    # Of equal epochs the last is taken: that is no sign that more of them help.
    before = [entry["validation"][run.watch] for entry in lines if entry["epoch"] < run.epochs]
    if best["epoch"] == run.epochs and value not in (*before, 0 if run.direction == "lower" else 1):
        print_text(
            "That was the last epoch: training longer may help, such as "
            f"--set epochs={2 * run.epochs} with another --out."
        )
