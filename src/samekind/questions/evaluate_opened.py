"""A space opened from a folder, evaluated: on the test items of its run, on other items, against another."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from samekind.data import read_trial_list
from samekind.evaluation.rows import SELECTED_ON_TEST, TRAINED_ON, described
from samekind.inference import embed
from samekind.inference.cohort import CohortNorm
from samekind.questions.evaluate import (
    Cohort,
    Evaluated,
    EvaluationSettings,
    evaluate_items,
    evaluate_run,
    evaluate_trials,
)
from samekind.questions.evaluate_against import Differences, evaluate_against
from samekind.questions.opening import OpenRun, OpenSpace
from samekind.questions.report import write_run_report
from samekind.storage import write_text
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
    taxonomy: Path | None = None,
    report: Path | None = None,
    keep: bool = False,
) -> Evaluated:
    """A run on its test items, graded by the tree in the file ``taxonomy``, if there is one. The page about
    it is written to ``report``. With ``keep`` its folder keeps the measures, unless they are by a cohort or
    by another tree than its own.
    """
    opened, folder = run.opened, RunFolder(run.opened.folder)
    opened.take_tree(taxonomy)
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
    if keep and cohort is None and taxonomy is None:
        with suppress(OSError):  # a folder that nobody may write to is evaluated all the same
            folder.keep_measures([described(row) for row in answer.rows])
    return answer


def evaluate_data(
    opened: OpenSpace,
    data: str,
    settings: EvaluationSettings,
    *,
    label: str | None = None,
    skip_unreadable: bool = False,
    cohort: CohortSource | None = None,
    taxonomy: Path | None = None,
) -> Evaluated:
    """A space on labelled items that are read now; every row says if the space was trained on them."""
    opened.take_tree(taxonomy)
    return evaluate_items(
        opened.space,
        opened.read_labelled(data, label=label, skip_unreadable=skip_unreadable),
        settings,
        name=opened.name,
        note=TRAINED_ON if opened.trained_on([data]) else "",
        cohort=read_cohort(opened, cohort),
    )


class TrialFiles(NamedTuple):
    """A list of trials, the folder that its paths start from, and the file of the sets that it compares."""

    trials: Path
    root: Path | None = None
    enrolments: Path | None = None


def evaluate_list(
    opened: OpenSpace, files: TrialFiles, settings: EvaluationSettings, *, cohort: CohortSource | None = None
) -> Evaluated:
    """A space on the trials of a list."""
    listed = read_trial_list(files.trials, root=files.root, enrolments=files.enrolments)
    return evaluate_trials(
        opened.space,
        listed,
        settings,
        name=opened.name,
        title=files.trials.stem,
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


def write_answers(path: Path, content: Mapping[str, Any]) -> None:
    """Write an answer for programs as a JSON file, whole or not at all."""
    write_text(path, json.dumps(content, indent=2) + "\n")
