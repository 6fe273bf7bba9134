"""samekind evaluate: every question, asked of held-out items."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.answers import Answer, Asked, Cohort, about_data, about_list, about_tests, about_two
from samekind.cli.options import (
    AsJson,
    Device,
    DrawSeed,
    LabelColumn,
    NoReferences,
    SkipUnreadable,
    Tasks,
)
from samekind.cli.together import Goes, check_together
from samekind.errors import SettingError, nearest

Folder = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a run; with --data, of a space as well.")
]
Other = Annotated[
    Path | None,
    typer.Option(metavar="RUN", help="Another run: by how much is the first better, on the same items?"),
]
OtherData = Annotated[
    str | None,
    typer.Option(metavar="DATA", help="Ask about these items instead; do the thresholds still hold there?"),
]
MostAsked = Annotated[
    int | None,
    typer.Option(
        help="Use at most this many items of a set, drawn at random: all pairs of many items take time.",
        min=4,
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="All measures, not the main ones alone.")]
Report = Annotated[
    Path | None, typer.Option(help="Write a one-page HTML report on the test items here as well.")
]
Out = Annotated[Path | None, typer.Option(help="Write what --json prints to this file as well.")]
Way = Annotated[int, typer.Option(help="Classes of a few-shot task.", min=2)]
Shots = Annotated[str, typer.Option(help="Examples of each class in few-shot tasks, with commas.")]
Ranks = Annotated[str, typer.Option(help="Recall is told at these ranks, with commas.")]
Enrol = Annotated[
    int | None,
    typer.Option(
        "--enroll",
        "--enrol",
        metavar="K",
        help="Also enrol each class from K items and verify the others.",
        min=1,
    ),
]
Combine = Annotated[
    str, typer.Option(help="How enrolled items make one score: embedding, mean, median, max or min.")
]
Trials = Annotated[
    Path | None,
    typer.Option(metavar="LIST", help='Verify the trials of a list instead: a line "1 first second" each.'),
]
Root = Annotated[
    Path | None, typer.Option(help="Where the paths of the list start.", show_default="the list's folder")
]
Enrolments = Annotated[
    Path | None,
    typer.Option(
        "--enrollments",
        "--enrolments",
        metavar="FILE",
        help='Sets the list compares: a line "name file file …" each.',
    ),
]
CohortData = Annotated[
    str | None,
    typer.Option(
        metavar="DATA",
        help="Also verify by scores normalised with these items: strangers, of no class asked about.",
    ),
]
Norm = Annotated[str, typer.Option(help="How to normalise: as (with the closest of --cohort) or s (all).")]
Top = Annotated[int, typer.Option(help="How many are the closest; a smaller --cohort is taken whole.", min=2)]
Gallery = Annotated[
    str | None,
    typer.Option(metavar="PART", help="Also search the items of this part of the run: train or validation."),
]
Ignore = Annotated[
    str,
    typer.Option(
        help="With --gallery, what is passed over as if it were not there: nothing, domain (what has the "
        "query's class and its domain) or group (the query's own)."
    ),
]

#: What to ask about instead of the test items of the run.
INSTEAD = ("data", "against", "trials")
#: Which questions an option has a say in.
TOGETHER = {
    "data": Goes(without=("against", "trials")),
    "against": Goes(without=("trials",)),
    "report": Goes(
        without=INSTEAD,
        because="the page is about the test items of the run; --out writes all figures, as JSON",
    ),
    "gallery": Goes(without=INSTEAD),
    "no_references": Goes(without=INSTEAD),
    "ignore": Goes(with_one_of=("gallery",)),
    "enrol": Goes(without=("against", "trials")),
    "combine": Goes(with_one_of=("enrol", "enrolments")),
    "root": Goes(with_one_of=("trials",)),
    "enrolments": Goes(with_one_of=("trials",)),
    "cohort": Goes(without=("against",)),
    "norm": Goes(with_one_of=("cohort",)),
    "top": Goes(with_one_of=("cohort",)),
    **dict.fromkeys(("most", "tasks", "way", "shots", "ranks"), Goes(without=("trials",))),
    "label": Goes(with_one_of=("data",)),
    "skip_unreadable": Goes(with_one_of=("data", "cohort")),
}


def evaluate(
    context: typer.Context,
    run: Folder,
    data: OtherData = None,
    against: Other = None,
    everything: Everything = False,
    report: Report = None,
    out: Out = None,
    tasks: Tasks = 600,
    way: Way = 5,
    shots: Shots = "1,5",
    ranks: Ranks = "1,2,4,8",
    enrol: Enrol = None,
    combine: Combine = "embedding",
    gallery: Gallery = None,
    ignore: Ignore = "nothing",
    trials: Trials = None,
    root: Root = None,
    enrolments: Enrolments = None,
    cohort: CohortData = None,
    norm: Norm = "as",
    top: Top = 200,
    most: MostAsked = None,
    no_references: NoReferences = False,
    label: LabelColumn = None,
    skip_unreadable: SkipUnreadable = False,
    seed: DrawSeed = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Ask a trained space every question, on the test items of its run and on the unseen classes.

    Values have their 95% interval in brackets, where one can be told.
    """
    check_together(context, TOGETHER)
    asked = Asked(
        tasks=tasks,
        way=way,
        shots=_numbers("shots", shots),
        ranks=_numbers("ranks", ranks),
        enrol=enrol,
        combination=_known("combine", combine),
        gallery=None if gallery is None else _known("gallery", gallery),
        ignore=_known("ignore", ignore),
        measures="all" if everything else "main",
        seed=seed,
        device=device,
        most=most,
        references=not no_references,
        cohort=_cohort(cohort, norm, top, skip_unreadable),
    )
    if trials is not None:
        answer = about_list(run, trials, root, enrolments, asked)
    elif data is not None:
        answer = about_data(run, data, asked, label=label, skip_unreadable=skip_unreadable)
    elif against is not None:
        answer = about_two(run, against, asked)
    else:
        answer = about_tests(run, report, asked)
    _tell(answer, report=report, out=out, as_json=as_json)


def _tell(answer: Answer, *, report: Path | None, out: Path | None, as_json: bool) -> None:
    from samekind.cli.output import print_json, print_text
    from samekind.storage import write_text

    if out is not None:
        write_text(out, json.dumps(answer.content, indent=2) + "\n")
    if as_json:
        print_json(answer.content)
        return
    answer.say()
    for words, path in (("The report is in", report), ("The same as JSON is in", out)):
        if path is not None:
            print_text(f"{words} {path}")


def _cohort(data: str | None, norm: str, top: int, skip_unreadable: bool) -> Cohort | None:
    form = _known("norm", norm)
    return None if data is None else Cohort(data, form, top, skip_unreadable)


def _known(option: str, given: str) -> str:
    """What an option was given, where it is one of what the option takes."""
    from samekind.evaluation.retrieval import IGNORED
    from samekind.inference.cohort import COHORT_NORMS
    from samekind.inference.enrolment import COMBINATIONS

    taken: dict[str, Sequence[str]] = {
        "combine": COMBINATIONS,
        "gallery": ("train", "validation"),
        "ignore": IGNORED,
        "norm": COHORT_NORMS,
    }
    if given not in taken[option]:
        raise SettingError(f'--{option}: there is no "{given}"; {nearest(given, taken[option])}')
    return given


def _numbers(option: str, given: str) -> tuple[int, ...]:
    """Whole numbers from 1 up, written with commas."""
    try:
        numbers = tuple(int(each) for each in given.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise SettingError(f'--{option}: expected whole numbers from 1 up, such as 1,5; got "{given}"')
    return numbers
