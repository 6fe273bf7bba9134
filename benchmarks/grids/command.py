"""The command line of a grid."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grids.results import Results, results_in
from grids.running import Place, run_grid
from grids.tables import write_tables


class Grid(NamedTuple):
    """What a folder of this kind has: its runs, how one is carried out, and the tables of their results.

    ``experiments`` is called with the number of epochs, or of what else ``counted`` says, and whether it is a
    trial. ``mark`` is what the tables stand between on their page, ``cache`` where decoded pictures are kept;
    `ready` is called with the runs that are wanted before the first of them begins. ``summary`` is printed
    when all are done. ``older`` are the tables of runs with older settings, whose JSONs are in the folder
    "older"; they stand between marks of their own, with "older " before the same word, on the page or on one
    beside it, such as similarity-older.md.
    """

    name: str
    experiments: Callable[[int, bool], list[Any]]
    carry_out: Callable[[Any, Place], str]
    tables: Callable[[Results], str]
    length: int
    counted: str = "epochs"
    mark: str = "tables"
    cache: Path | None = None
    ready: Callable[[Sequence[Any], Place], None] | None = None
    summary: Callable[[Results], str] | None = None
    older: Callable[[Results], str] | None = None


def command(grid: Grid, description: str) -> None:
    """Run what is wanted of the grid, write its tables, or both; the exit code says whether a run failed."""
    parser = _parser(grid, description)
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.table:
        parser.error("give --data to run the grid, --table for the tables of what was run, or both")
    done = True
    # On a trial's results the page must not be built: they go elsewhere.
    out: Path = arguments.work / "quick" if arguments.quick else arguments.out
    if arguments.data is not None:
        place = Place(
            arguments.data,
            out,
            arguments.work,
            arguments.device,
            time.time() + arguments.budget,
            arguments.quick,
            getattr(arguments, "cache", None),
        )
        wanted = [
            experiment
            for experiment in grid.experiments(arguments.length, arguments.quick)
            if not arguments.only or {experiment.name, experiment.variant} & set(arguments.only)
        ]
        if grid.ready is not None:
            grid.ready(wanted, place)
        done = run_grid(wanted, grid.carry_out, place, arguments.workers)
        if grid.summary is not None:
            print(grid.summary(results_in(out)))
    if arguments.table:
        written = grid.tables(results_in(out))
        if arguments.page is None:
            print(written)
        else:
            write_tables(arguments.page, written, mark=grid.mark)
            if grid.older is not None:
                before = grid.older(results_in(arguments.out / "older"))
                write_tables(arguments.page, before, mark=f"older {grid.mark}")
    sys.exit(0 if done else 1)


def _parser(grid: Grid, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=grid.name, description=description.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results", grid.name))
    parser.add_argument("--work", type=Path, default=Path("runs", grid.name))
    if grid.cache is not None:
        parser.add_argument("--cache", type=Path, default=grid.cache, help="where decoded pictures are kept")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    of_every_run = f"{grid.counted} of every run; they cannot be mixed"
    parser.add_argument(f"--{grid.counted}", dest="length", type=int, default=grid.length, help=of_every_run)
    parser.add_argument("--budget", type=float, default=float("inf"), help="no run is begun after SECONDS")
    parser.add_argument("--only", nargs="+", help="variants, or runs: a variant and its seed, such as NAME-0")
    parser.add_argument("--quick", action="store_true", help="try everything out on a few items")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--page", type=Path, help="with --table: the page to write the tables into")
    return parser
