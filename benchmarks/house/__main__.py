"""The house recipe put to the test: every rung of its ladder, and what a user would do instead.

    python benchmarks/house --data DIR [--device cuda] [--workers 3] [--budget 600] [--only NAME …]
    python benchmarks/house --table [--page docs/results/house.md]

DIR holds cub200.zip, cub200_taxonomy.csv, plankton.zip, plankton_taxonomy.csv and a folder ``fashion`` with
the four files of Fashion-MNIST; of what is missing the runs fail, the others do not. A run whose JSON exists
is not run again; none is begun after BUDGET seconds. ``--quick`` tries everything out on a few items.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import SEEDS, grid
from grids.command import Grid, command
from sets import make_ready
from tables import tables

if __name__ == "__main__":
    command(
        Grid(
            "house",
            grid,
            carry_out,
            tables,
            SEEDS,
            counted="seeds",
            cache=Path("runs/house-decoded"),
            ready=make_ready,
        ),
        __doc__ or "",
    )
