"""Learning with a tree of the classes: the grid of paper IV on plankton and birds, and what else there is.

    python benchmarks/trees --data DIR [--device cuda] [--workers 5] [--budget 450] [--only NAME …]
    python benchmarks/trees --table [--page docs/results/trees.md]

DIR holds cub200.zip, cub200_taxonomy.csv, plankton.zip and plankton_taxonomy.csv. Pictures are decoded once,
and lie on the device for all runs of a process. A run whose JSON exists is not run again; none is begun after
BUDGET seconds. ``--quick`` tries everything out on a few items.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import SEEDS, grid
from grids.command import Grid, command
from sets import make_ready
from tables import summary, tables

if __name__ == "__main__":
    command(
        Grid(
            "trees",
            grid,
            carry_out,
            tables,
            SEEDS,
            counted="seeds",
            cache=Path("runs/trees-decoded"),
            ready=make_ready,
            summary=summary,
        ),
        __doc__ or "",
    )
