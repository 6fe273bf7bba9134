"""samekind train: from a recipe and data to a trained space."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli import options
from samekind.cli.output import print_messages, print_text, render
from samekind.cli.progress_bar import training_reports
from samekind.errors import SettingError

if TYPE_CHECKING:
    from samekind.questions.train import BestEpoch, TrainingAnswer

WHICH = (
    "A recipe or a TOML file. house, the default, measures what training gives and keeps the best; those of "
    "papers are prototypical, verification, triplet, for voices speaker, and for unseen classes such as "
    "unseen-proxy-nca-adapt-adv."
)

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
    run: Annotated[str, Argument(metavar="[RUN]", help=WHICH, show_default=False)] = options.HOUSE,
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
    from samekind.questions.plan_options import PlanOptions
    from samekind.questions.train import train

    if run == options.HOUSE and data is None:
        raise SettingError("name the data to learn from: samekind train --data DATA")
    plan = PlanOptions(
        source=data,
        label=label,
        path=path,
        ignore=options.names(ignore),
        size=size,
        taxonomy=taxonomy,
        skip_unreadable=skip_unreadable,
        split=split,
        unseen=options.unseen_names(unseen),
        test_domains=options.names(test_domains),
        seed=seed,
        changes=tuple(changes or ()),
    ).plan(run)
    tell = print_messages if as_json else print_text  # a line about each rung
    answer = train(
        plan, out, start=start, minutes=minutes, point=at, device=device, reports=training_reports(tell)
    )
    render(answer.to_json(), lambda: _print(answer), as_json=as_json)


def _print(answer: "TrainingAnswer") -> None:
    """The result of a training: its measures, its folder, and the next commands."""
    from samekind.data.words import counted

    if answer.ladder is not None:  # the rungs were printed while they were measured
        why = ", because nothing that was tried is better by more than chance" if answer.ladder.stayed else ""
        print_text(f"Kept: {answer.ladder.kept}{why}.")
    else:
        if answer.trouble is not None:
            print_text(f"Careful: {answer.trouble}.")
        print_text(
            f"Trained {answer.recipe} for {counted(answer.epochs, 'epoch', 'epochs')} on {answer.items:,} "
            f"items of {answer.trained_classes} classes."
        )
        if answer.best is not None:
            _print_best(answer.best)
    for sentence in answer.choices:
        print_text(f"{sentence[0].upper()}{sentence[1:]}.")
    print_text(f"The space is in {answer.saved}; next: samekind evaluate {quote(str(answer.folder))}")


def _print_best(best: "BestEpoch") -> None:
    print_text(f"Best epoch {best.number}: validation {best.validation}.")
    if best.is_last_and_best:
        print_text(
            "That was the last epoch: training longer may help, such as "
            f"--set epochs={2 * best.number} with another --out."
        )
