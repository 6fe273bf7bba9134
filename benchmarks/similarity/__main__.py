"""The learned similarity put to the test on CIFAR-10: a grid of runs, one JSON a run, and their page.

    python benchmarks/similarity --data FOLDER [--device cuda] [--workers 4] [--budget 480] [--only NAME …]
    python benchmarks/similarity --table [--page docs/results/similarity.md]

FOLDER holds CIFAR-10 as its authors publish it, or as sprites (``data_batch_1.png``, …), or is, or holds,
``cifar10.npz`` with the arrays ``inputs`` (60000, 3, 32, 32), ``labels`` and ``parts``. A run whose JSON is
there is not run again; none is begun after BUDGET seconds, and one that was stopped goes on from its
checkpoint. ``--table`` writes the tables of whatever JSONs there are into the page, or prints them.
Runs with older settings are kept in the folder "older" and have tables of their own. ``--quick`` tries
everything out on 800 images, in a few minutes on a CPU, its results in the folder of WORK.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import EPOCHS, grid
from grids.command import Grid, command
from tables import older_tables, tables


def main() -> None:
    command(
        Grid(
            "similarity",
            lambda epochs, quick: grid(epochs=epochs, quick=quick),
            carry_out,
            tables,
            EPOCHS,
            older=older_tables,
        ),
        __doc__ or "",
    )


if __name__ == "__main__":
    main()
