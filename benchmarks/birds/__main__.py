"""The learned similarity put to the test on birds of unseen classes: a grid of runs, and their tables.

    python benchmarks/birds --data cub200.zip [--device cuda] [--workers 6] [--budget 300] [--only NAME …]
    python benchmarks/birds --table [--page docs/results/similarity.md]

The archive holds CUB-200-2011 as folders of classes; its pictures are decoded once, into CACHE. Beside it is
cub200_taxonomy.csv, with the families of the birds. A run whose JSON is there is not run again; none is begun
after BUDGET seconds. One that was stopped keeps the epochs that it has chosen, and trains the rest anew.
``--table`` writes the tables of whatever JSONs there are into the page, or prints them. ``--quick`` tries
everything out on a few small pictures, its results in the folder of WORK.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import EPOCHS, grid
from grids.birds import make_ready
from grids.command import Grid, command
from tables import older_tables, retrieval_table, tables

if __name__ == "__main__":
    command(
        Grid(
            "birds",
            grid,
            carry_out,
            tables,
            EPOCHS,
            mark="birds",
            cache=Path("runs/birds-decoded"),
            ready=make_ready,
            summary=retrieval_table,
            older=older_tables,
        ),
        __doc__ or "",
    )
