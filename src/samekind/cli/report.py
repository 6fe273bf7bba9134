"""samekind report: the one-page report of a run."""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.options import LARGEST_SEED, AsJson, Device, Tasks


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[
        Path | None, typer.Option(help="The page to write.", show_default="report.html in the run")
    ] = None,
    tasks: Tasks = 600,
    seed: Annotated[
        int,
        typer.Option(help="Fixes the few-shot tasks and the starts of k-means.", min=0, max=LARGEST_SEED),
    ] = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Write what a trained space answers, in numbers and pictures, as one HTML page."""
    from samekind import evaluation
    from samekind.cli.answers import selected_on_test
    from samekind.cli.asking import open_space
    from samekind.cli.experiments import sets_of
    from samekind.cli.output import print_json, print_text
    from samekind.evaluation.rows import noted
    from samekind.reports import System, write_report
    from samekind.training import Record

    name, page = run.resolve().name, out or run / "report.html"
    sets = sets_of(run)
    space = open_space(run, device)
    rows = evaluation.evaluate(space, sets.tests(), tasks=tasks, seed=seed)
    rows = [noted(row, selected_on_test(run)) for row in rows]
    write_report(
        page,
        title=f"samekind: {name}",
        lead=f"Every question asked of the space in {name}, on items it was not trained on.",
        systems={name: System(space.cpu(), rows, Record(run / "record.jsonl").lines())},
        seen=sets.test,
        unseen=sets.unseen,
    )
    if as_json:
        print_json({"folder": str(run), "report": str(page)})
        return
    print_text(f"The report is in {page}")
