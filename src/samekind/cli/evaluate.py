"""samekind evaluate: every question, asked of held-out items."""

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli.options import LARGEST_SEED, AsJson, Device, Tasks


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    report: Annotated[Path | None, typer.Option(help="Write a one-page HTML report here as well.")] = None,
    tasks: Tasks = 600,
    seed: Annotated[
        int,
        typer.Option(
            help="Fixes the few-shot tasks and the starts of k-means.",
            min=0,
            max=LARGEST_SEED,
        ),
    ] = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Ask a trained space every question, on the test items of its run and on the unseen classes."""
    from samekind import evaluation
    from samekind.cli.experiments import sets_of, space_folder
    from samekind.cli.output import print_json, print_measures, print_text, rows_as_json
    from samekind.space import MetricSpace
    from samekind.training import Record, launch

    name = run.resolve().name
    sets = sets_of(run)
    space = MetricSpace.load(space_folder(run)).to(launch(device, "32-true").device)
    rows = evaluation.evaluate(space, sets.tests(), tasks=tasks, seed=seed)
    if report is not None:
        from samekind.reports import System, write_report

        record = Record(run / "record.jsonl").lines()
        write_report(
            report,
            title=f"samekind: {name}",
            lead=f"Every question asked of the space in {name}, on items it was not trained on.",
            systems={name: System(space.cpu(), rows, record)},
            seen=sets.test,
            unseen=sets.unseen,
        )
    if as_json:
        print_json({"folder": str(run), "systems": rows_as_json({name: rows})})
        return
    print_measures({name: rows})
    if report is not None:
        print_text(f"The report is in {report}")
