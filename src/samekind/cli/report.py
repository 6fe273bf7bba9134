"""samekind report: the one-page report of a run."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, DrawSeed, NoReferences, Tasks
from samekind.cli.output import print_gains, print_json, print_text, print_warnings
from samekind.cli.spaces import open_run


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
    warnings = {answer.name: answer.warnings}
    if as_json:
        gains = answer.to_json()["gains"]
        print_json({"folder": str(run), "report": str(page), "gains": gains, "warnings": warnings})
        return
    print_gains(answer.gains)
    print_text(f"The report is in {page}")
    print_warnings(warnings)
