"""samekind evaluate: how well a space answers every question, on held-out items."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

from samekind.cli import options, output
from samekind.cli.spaces import open_run, open_space, warn_of_training_items
from samekind.cli.together import Goes, check_together

if TYPE_CHECKING:
    from samekind.questions.evaluate import Evaluated, EvaluationSettings
    from samekind.questions.evaluate_against import Differences
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
#: Items that can be evaluated instead of the test items of the run.
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
    from samekind.questions import evaluate as choices
    from samekind.questions.evaluate_opened import CohortSource

    check_together(context, TOGETHER)
    settings = choices.EvaluationSettings(
        tasks=tasks,
        way=way,
        shots=options.whole_numbers("shots", shots),
        ranks=options.whole_numbers("ranks", ranks),
        enrol=enrol,
        combination=options.known("combine", combine, choices.COMBINATIONS),
        gallery=options.known_or_none("gallery", gallery, choices.SEARCHED_PARTS),
        ignore=options.known("ignore", ignore, choices.IGNORED),
        measures="all" if everything else "main",
        seed=seed,
        limit=most,
        references=not no_references,
    )
    how = options.known_or_none("norm", norm, choices.COHORT_NORMS)
    source = None if cohort is None else CohortSource(cohort, how, top, skip_unreadable)
    about = About(run, data, label, skip_unreadable, trials, root, enrolments, against, taxonomy, report)
    answer = _asked(about, settings, source, device=device)
    content = {"folder": str(run), **about.instead, **answer.to_json()}
    _tell(content, answer, report=report, out=out, everything=everything, as_json=as_json)


class About(NamedTuple):
    """The items of the answers: the test items of a run or, instead, one of DATA, trials and another run."""

    run: Path
    data: str | None
    label: str | None
    skip_unreadable: bool
    trials: Path | None
    root: Path | None
    enrolments: Path | None
    against: Path | None
    taxonomy: Path | None
    report: Path | None

    @property
    def instead(self) -> dict[str, str]:
        """The option that replaces the test items."""
        given = {"data": self.data, "trials": self.trials, "against": self.against}
        return {name: str(value) for name, value in given.items() if value is not None}


def _asked(
    about: About, settings: "EvaluationSettings", cohort: "CohortSource | None", *, device: str
) -> "Evaluated | Differences":
    """The answers about the items that the options name."""
    from samekind.questions import evaluate_opened as questions

    if about.against is not None:
        first, second = (open_run(run, device) for run in (about.run, about.against))
        return questions.evaluate_runs(first, second, settings)
    if about.trials is not None:
        files = questions.TrialFiles(about.trials, about.root, about.enrolments)
        return questions.evaluate_list(open_space(about.run, device), files, settings, cohort=cohort)
    if about.data is None:
        return questions.evaluate_tests(
            open_run(about.run, device),
            settings,
            cohort=cohort,
            taxonomy=about.taxonomy,
            report=about.report,
            keep=True,
        )
    opened = open_space(about.run, device)
    warn_of_training_items(opened, [about.data])
    return questions.evaluate_data(
        opened,
        about.data,
        settings,
        label=about.label,
        skip_unreadable=about.skip_unreadable,
        cohort=cohort,
        taxonomy=about.taxonomy,
    )


def _tell(
    content: dict[str, Any],
    answer: "Evaluated | Differences",
    *,
    report: Path | None,
    out: Path | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Write and print the answers, and say where they are."""
    from samekind.questions.evaluate_against import Differences
    from samekind.questions.evaluate_opened import write_answers

    if out is not None:
        write_answers(out, content)
    if as_json:
        output.print_json(content)
        return
    if isinstance(answer, Differences):
        output.print_differences(answer.names, answer.rows)
        output.print_warnings(" and ".join(answer.names), answer.warnings)
    else:
        _print(answer, everything=everything)
    for words, path in (("The report is in", report), ("The same as JSON is in", out)):
        if path is not None:
            output.print_text(f"{words} {path}")


def _print(answer: "Evaluated", *, everything: bool) -> None:
    """The gains of the training, the answers, warnings about them, and the promises of thresholds: one
    screen, or with --all everything.
    """
    output.print_gains(answer)
    if everything:
        output.print_measures(answer.rows)
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
    output.print_warnings(answer.name, answer.warnings)
    output.print_promises(answer.promises if everything else answer.used_promises)
    if not everything:
        output.print_text("\n--all prints all measures, by every kind of score, and all thresholds.")
