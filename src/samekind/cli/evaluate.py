"""samekind evaluate: how well a space answers every question, on held-out items."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

from samekind.cli import options, output
from samekind.cli.spaces import open_run, open_space, warn_of_training_items
from samekind.cli.together import Goes, check_together
from samekind.errors import SettingError

if TYPE_CHECKING:
    from samekind.questions.evaluate import Evaluated, EvaluationSettings
    from samekind.questions.evaluate_opened import CohortSource

Folder = Annotated[
    Path, Argument(metavar="RUN", help="The folder of a run; with --data, of a space as well.")
]
Other = Annotated[
    Path | None,
    Option("--against", metavar="RUN", help="Another run: how much better is the first on the same items?"),
]
OtherData = Annotated[
    str | None,
    Option("--data", metavar="DATA", help="Evaluate on these items instead, and check the thresholds there."),
]
MostAsked = Annotated[
    int | None, Option(help="Use at most this many items of a set, drawn at random, to save time.", min=4)
]
Everything = Annotated[
    bool, Option("--all", help="All measures, by every kind of score, and all thresholds.")
]
Report = Annotated[Path | None, Option(help="Write a one-page HTML report on the test items here as well.")]
Out = Annotated[Path | None, Option(help="Write what --json prints to this file as well.")]
Way = Annotated[int, Option(help="Classes of a few-shot task.", min=2)]
Shots = Annotated[str, Option(help="Examples of each class in few-shot tasks, separated by commas.")]
Ranks = Annotated[str, Option(help="Ranks to report recall at, separated by commas.")]
Enrol = Annotated[
    int | None,
    Option(
        "--enroll",
        "--enrol",
        metavar="K",
        help="Also enrol each class from K items and verify the others.",
        min=1,
    ),
]
Combine = Annotated[
    str, Option(help="How enrolled items make one score: embedding, mean, median, max or min.")
]
Trials = Annotated[
    Path | None,
    Option(
        "--trials", metavar="LIST", help='Verify the trials of a list instead: a line "1 first second" each.'
    ),
]
Enrolments = Annotated[
    Path | None,
    Option(
        "--enrollments",
        "--enrolments",
        metavar="FILE",
        help='Sets the list compares: a line "name file file …" each.',
    ),
]
CohortData = Annotated[
    str | None,
    Option(
        "--cohort",
        metavar="DATA",
        help="Also verify by scores normalised with these items, of none of the tested classes; gallery: "
        "with the evaluated items themselves, whose labels play no part.",
    ),
]
Norm = Annotated[
    str | None,
    Option(
        help="How to normalise: as (with the closest of --cohort), s (with all), or mean (less the mean of "
        "the closest, which is right for search, too). Default: as; with --cohort gallery mean."
    ),
]
Top = Annotated[
    int | None, Option(help="How many of --cohort are the closest; default 200, for mean 10.", min=2)
]
Gallery = Annotated[
    str | None,
    Option(
        "--gallery",
        metavar="PART",
        help="Also search the items of this part of the run: train or validation.",
    ),
]
Ignore = Annotated[
    str,
    Option(
        help="With --gallery, what a query does not find: nothing, domain (items of its class and domain) "
        "or group (items of its group)."
    ),
]

#: Classes that sit in the wrong place, at most so many are named.
NAMED = 3
#: What can be evaluated instead of the test items of the run.
INSTEAD = ("data", "against", "trials")
#: Which options need others, and which exclude them.
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
    "taxonomy": Goes(without=("against", "trials")),
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
    tasks: options.Tasks = 600,
    way: Way = 5,
    shots: Shots = "1,5",
    ranks: Ranks = "1,2,4,8",
    enrol: Enrol = None,
    combine: Combine = "embedding",
    gallery: Gallery = None,
    ignore: Ignore = "nothing",
    trials: Trials = None,
    root: options.Root = None,
    enrolments: Enrolments = None,
    cohort: CohortData = None,
    norm: Norm = None,
    top: Top = None,
    most: MostAsked = None,
    no_references: options.NoReferences = False,
    label: options.LabelColumn = None,
    taxonomy: options.Taxonomy = None,
    skip_unreadable: options.SkipUnreadable = False,
    seed: options.DrawSeed = 0,
    device: options.Device = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Evaluate a trained space on the test items of its run and on the unseen classes.

    Values have their 95% interval in brackets, if there is one.
    """
    from samekind.questions.evaluate import EvaluationSettings

    check_together(context, TOGETHER)
    settings = EvaluationSettings(
        tasks=tasks,
        way=way,
        shots=_numbers("shots", shots),
        ranks=_numbers("ranks", ranks),
        enrol=enrol,
        combination=_known("combine", combine),
        gallery=_known("gallery", gallery),
        ignore=_known("ignore", ignore),
        measures="all" if everything else "main",
        seed=seed,
        limit=most,
        references=not no_references,
    )
    request = Request(run, device, settings, _cohort(cohort, norm, top, skip_unreadable), taxonomy)
    if trials is not None:
        content, show = _about_trials(request, trials, root, enrolments)
    elif data is not None:
        content, show = _about_data(request, data, label, skip_unreadable)
    else:
        content, show = _about_tests(request, report) if against is None else _about_two(request, against)
    _tell({"folder": str(run), **content}, show, report=report, out=out, as_json=as_json)


class Request(NamedTuple):
    """What to evaluate, where, how, with which cohort, and by the tree of which file."""

    run: Path
    device: str
    settings: "EvaluationSettings"
    cohort: "CohortSource | None"
    taxonomy: Path | None = None


#: The content for --json, and a function that prints it for people.
Told = tuple[dict[str, Any], Callable[[], None]]


def _about_tests(request: Request, report: Path | None) -> Told:
    from samekind.evaluation.rows import described
    from samekind.questions.evaluate_opened import evaluate_tests
    from samekind.training import RunFolder

    run = open_run(request.run, request.device)
    run.opened.take_tree(request.taxonomy)
    answer = evaluate_tests(run, request.settings, cohort=request.cohort, report=report)
    if request.cohort is None and request.taxonomy is None:
        with suppress(OSError):  # a folder that nobody may write to is evaluated all the same
            RunFolder(request.run).keep_measures([described(row) for row in answer.rows])
    return answer.to_json(), partial(_print_evaluated, answer, request)


def _about_data(request: Request, data: str, label: str | None, skip_unreadable: bool) -> Told:
    from samekind.questions.evaluate_opened import evaluate_data

    opened = open_space(request.run, request.device)
    opened.take_tree(request.taxonomy)
    items = opened.read_labelled(data, label=label, skip_unreadable=skip_unreadable)
    warn_of_training_items(opened, [data])
    answer = evaluate_data(opened, items, request.settings, source=data, cohort=request.cohort)
    return {"data": data, **answer.to_json()}, partial(_print_evaluated, answer, request)


def _about_trials(request: Request, trials: Path, root: Path | None, enrolments: Path | None) -> Told:
    from samekind.data import read_trial_list
    from samekind.questions.evaluate import evaluate_trials
    from samekind.questions.evaluate_opened import read_cohort

    listed = read_trial_list(trials, root=root, enrolments=enrolments)
    opened = open_space(request.run, request.device)
    answer = evaluate_trials(
        opened.space,
        listed,
        request.settings,
        name=opened.name,
        title=trials.stem,
        cohort=read_cohort(opened, request.cohort),
    )
    return {"trials": str(trials), **answer.to_json()}, partial(_print_evaluated, answer, request)


def _about_two(request: Request, against: Path) -> Told:
    from samekind.questions.evaluate_opened import evaluate_runs

    first, second = (open_run(run, request.device) for run in (request.run, against))
    answer = evaluate_runs(first, second, request.settings)

    def show() -> None:
        output.print_differences(answer.names, answer.rows)
        output.print_warnings({" and ".join(answer.names): answer.warnings})

    return {"against": str(against), **answer.to_json()}, show


def _print_evaluated(answer: "Evaluated", request: Request) -> None:
    """What training gained, the answers, what to know of them, and what the thresholds promised: one screen,
    or with --all everything.
    """
    everything = request.settings.measures == "all"
    output.print_gains(answer.gains)
    if everything:
        output.print_measures({answer.name: answer.rows})
    else:
        output.print_answers(answer.main_rows)
    if answer.choices is not None:
        output.print_text(
            f"\nBy default pairs are compared by {answer.choices.pairs}, neighbours found by "
            f"{answer.choices.neighbours}, classes named by {answer.choices.classes}: chosen on "
            f"{answer.choices.measured_on}."
        )
    if answer.misplaced:
        count, first = len(answer.misplaced), answer.misplaced[:NAMED]
        more = f", and {count - len(first):,} more" if count > len(first) else ""
        output.print_text(f"Not beside their relatives: {'; '.join(row.sentence for row in first)}{more}.")
    output.print_warnings({answer.name: answer.warnings})
    output.print_promises(answer.promises if everything else answer.used_promises)
    if not everything:
        output.print_text("\n--all prints all measures, by every kind of score, and all thresholds.")


def _tell(
    content: dict[str, Any], show: Callable[[], None], *, report: Path | None, out: Path | None, as_json: bool
) -> None:
    if out is not None:
        from samekind.storage import write_text

        write_text(out, json.dumps(content, indent=2) + "\n")
    if as_json:
        output.print_json(content)
        return
    show()
    for words, path in (("The report is in", report), ("The same as JSON is in", out)):
        if path is not None:
            output.print_text(f"{words} {path}")


def _cohort(
    data: str | None, norm: str | None, top: int | None, skip_unreadable: bool
) -> "CohortSource | None":
    from samekind.questions.evaluate_opened import CohortSource

    return None if data is None else CohortSource(data, _known("norm", norm), top, skip_unreadable)


def _known(option: str, given: str | None) -> Any:
    """The value of an option, if it is one of those it takes, or None."""
    from samekind.evaluation.retrieval import IGNORED
    from samekind.inference.cohort import COHORT_NORMS
    from samekind.inference.enrolment import COMBINATIONS

    taken: dict[str, Sequence[str]] = {
        "combine": COMBINATIONS,
        "gallery": ("train", "validation"),
        "ignore": IGNORED,
        "norm": COHORT_NORMS,
    }
    return None if given is None else options.known(option, given, taken[option])


def _numbers(option: str, given: str) -> tuple[int, ...]:
    """Whole numbers from 1 up, written with commas."""
    try:
        numbers = tuple(int(number) for number in given.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise SettingError(f'--{option}: expected whole numbers from 1 up, such as 1,5; got "{given}"')
    return numbers
