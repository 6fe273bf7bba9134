"""A space opened from a folder, evaluated: on the test items of its run, on other items, against another."""

from dataclasses import dataclass
from pathlib import Path

from samekind.data import Items
from samekind.evaluation.rows import SELECTED_ON_TEST, TRAINED_ON
from samekind.inference import embed
from samekind.inference.cohort import CohortNorm
from samekind.questions.evaluate import Cohort, Evaluated, EvaluationSettings, evaluate_items, evaluate_run
from samekind.questions.evaluate_against import Differences, evaluate_against
from samekind.questions.opening import OpenRun, OpenSpace
from samekind.questions.report import write_run_report
from samekind.training import RunFolder

#: The name of a cohort that is the evaluated items.
GALLERY = "gallery"


@dataclass(frozen=True)
class CohortSource:
    """Where strangers are read from ("gallery": the evaluated items themselves, without their labels), how
    they normalise scores, and how many of the closest are used; None for what is usual.
    """

    data: str
    norm: CohortNorm | None = None
    top: int | None = None
    skip_unreadable: bool = False


def read_cohort(opened: OpenSpace, source: CohortSource | None) -> Cohort | None:
    """The cohort, embedded; labels play no part. None without a source."""
    if source is None:
        return None
    if source.data == GALLERY and not Path(GALLERY).exists():
        return Cohort(None, source.norm or "mean", source.top)
    items = opened.read([source.data], skip_unreadable=source.skip_unreadable)
    return Cohort(embed(opened.space, items.inputs), source.norm or "as", source.top)


def evaluate_tests(
    run: OpenRun,
    settings: EvaluationSettings,
    *,
    cohort: CohortSource | None = None,
    report: Path | None = None,
) -> Evaluated:
    """A run on its test items; the page about it is written to ``report``."""
    opened, folder = run.opened, RunFolder(run.opened.folder)
    answer = evaluate_run(
        opened.space,
        run.sets,
        settings,
        name=opened.name,
        note=SELECTED_ON_TEST if folder.selected_on_test else "",
        cohort=read_cohort(opened, cohort),
        run=folder.run(),
    )
    if report is not None:
        write_run_report(report, opened.space, run.sets, answer, folder.record.lines())
    return answer


def evaluate_data(
    opened: OpenSpace,
    items: Items,
    settings: EvaluationSettings,
    *,
    source: str,
    cohort: CohortSource | None = None,
) -> Evaluated:
    """The items that were read from a source; every row says if the space was trained on them."""
    return evaluate_items(
        opened.space,
        items,
        settings,
        name=opened.name,
        note=TRAINED_ON if opened.trained_on([source]) else "",
        cohort=read_cohort(opened, cohort),
    )


def evaluate_runs(first: OpenRun, second: OpenRun, settings: EvaluationSettings) -> Differences:
    """Two runs on the test items that they share; runs of one name are named by their folders."""
    spaces = first.opened, second.opened
    names = spaces[0].name, spaces[1].name
    return evaluate_against(
        (spaces[0].space, spaces[1].space),
        (first.sets, second.sets),
        settings,
        names=names if names[0] != names[1] else (str(spaces[0].folder), str(spaces[1].folder)),
    )
