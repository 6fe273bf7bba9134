"""The learned similarity put to the test on CIFAR-10: a grid of runs, one JSON a run, and their page.

    python benchmarks/similarity --data FOLDER [--device cuda] [--workers 4] [--budget 480] [--only NAME …]
    python benchmarks/similarity --table [--page docs/results/similarity.md]

FOLDER holds CIFAR-10 as sprites (``data_batch_1.png``, …) or is, or holds, ``cifar10.npz`` with the arrays
``inputs`` (60000, 3, 32, 32), ``labels`` and ``parts``. A run whose JSON is there is not run again; none is
begun after BUDGET seconds, and one that was stopped goes on from its checkpoint. ``--table`` writes the
tables of whatever JSONs there are into the page, or prints them. ``--quick`` tries everything out on 2,000
images, its results in the folder of WORK.
"""

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from carry_out import Place, carry_out, start_worker, threads_for
from grid import EPOCHS, Experiment, grid
from results import results_in
from tables import page_with, tables

from samekind.storage import write_text


def run_grid(experiments: list[Experiment], place: Place, workers: int) -> bool:
    """Every run that is not done yet, ``workers`` at once; whether none failed."""
    began, done = time.time(), True
    # Fresh processes: a forked one cannot use CUDA.
    with ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=start_worker,
        initargs=(threads_for(workers),),
    ) as pool:
        futures = {pool.submit(carry_out, each, place): each for each in experiments}
        for future in as_completed(futures):
            error = future.exception()
            said = f"FAILED: {error!r}" if error is not None else future.result()
            done = done and error is None
            print(f"{time.time() - began:6.0f} s  {futures[future].name}: {said}", flush=True)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(prog="similarity", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/similarity"))
    parser.add_argument("--work", type=Path, default=Path("runs/similarity"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of every run; they cannot be mixed")
    parser.add_argument("--budget", type=float, default=float("inf"), help="no run is begun after SECONDS")
    parser.add_argument("--only", nargs="+", help="variants, such as verification, or runs: verification-0")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--page", type=Path, help="with --table: the page to write the tables into")
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.table:
        parser.error("give --data to run the grid, --table for the tables of what was run, or both")
    done = True
    if arguments.data is not None:
        # On a trial's results the page must not be built: they go elsewhere.
        out = arguments.work / "quick" if arguments.quick else arguments.out
        deadline = time.time() + arguments.budget
        place = Place(arguments.data, out, arguments.work, arguments.device, deadline, arguments.quick)
        wanted = [
            each
            for each in grid(epochs=arguments.epochs, quick=arguments.quick)
            if not arguments.only or {each.name, each.variant} & set(arguments.only)
        ]
        done = run_grid(wanted, place, arguments.workers)
    if arguments.table:
        written = tables(results_in(arguments.out))
        if arguments.page is None:
            print(written)
        else:
            write_text(arguments.page, page_with(arguments.page.read_text(encoding="utf-8"), written))
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
