"""samekind report: the one-page report of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, DrawSeed, NoReferences, Tasks
from samekind.cli.output import print_gains, print_text, print_warnings, render
from samekind.cli.spaces import open_run

if TYPE_CHECKING:
    from samekind.questions.evaluate import Evaluated


def report(
    run: Annotated[Path, Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None, Option(help="The page to write.", show_default="report.html in the run")
    ] = None,
    tasks: Tasks = 600,
    no_references: NoReferences = False,
    seed: DrawSeed = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Write what a trained space answers, in numbers and pictures, as one HTML page."""
    from samekind.questions.evaluate import EvaluationSettings
    from samekind.questions.evaluate_opened import evaluate_tests

    page = out or run / "report.html"
    settings = EvaluationSettings(tasks=tasks, seed=seed, references=not no_references, promises=False)
    answer = evaluate_tests(open_run(run, device), settings, report=page)
    gains, warnings = answer.to_json()["gains"], {answer.name: answer.warnings}
    content = {"folder": run, "report": page, "gains": gains, "warnings": warnings}
    render(content, lambda: _print(answer, page), as_json=as_json)


def _print(answer: "Evaluated", page: Path) -> None:
    print_gains(answer)
    print_text(f"The report is in {page}")
    print_warnings(answer.name, answer.warnings)
