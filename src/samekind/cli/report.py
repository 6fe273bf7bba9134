"""samekind report: the one-page report of a run."""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.answers import Asked, cautions, tested, warned, write_page
from samekind.cli.options import AsJson, Device, DrawSeed, NoReferences, Tasks


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="The page to write.", show_default="report.html in the run")
    ] = None,
    tasks: Tasks = 600,
    no_references: NoReferences = False,
    seed: DrawSeed = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Write what a trained space answers, in numbers and pictures, as one HTML page."""
    from samekind.cli.output import print_json, print_text, print_warnings

    page = out or run / "report.html"
    asked = Asked(tasks=tasks, seed=seed, device=device, references=not no_references)
    found = tested(run, asked)
    write_page(page, run, found)
    warnings = warned(found.name, found.rows, asked, also=cautions(found.sets))
    if as_json:
        print_json({"folder": str(run), "report": str(page), "warnings": warnings})
        return
    print_text(f"The report is in {page}")
    print_warnings(warnings)
