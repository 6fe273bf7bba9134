"""Embeddings for unseen classes, put to the test on birds: a grid of runs, one JSON a run, and their page.

    python benchmarks/unseen --data cub200.zip [--device cuda] [--workers 6] [--budget 600] [--only NAME …]
    python benchmarks/unseen --table [--page docs/results/unseen.md]

The archive holds CUB-200-2011 as folders of classes; its pictures are decoded once, into CACHE. Beside it is
cub200_taxonomy.csv, with the families of the birds. A run whose JSON is there is not run again; none is begun
after BUDGET seconds, and one that was stopped goes on from its checkpoint. ``--table`` writes the tables of
whatever JSONs there are into the page, or prints them. ``--quick`` tries everything out on a few small
pictures, its results in the folder of WORK.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import EPOCHS, grid
from grids.birds import make_ready
from grids.command import Grid, command
from tables import older_tables, summary, tables

if __name__ == "__main__":
    command(
        Grid(
            "unseen",
            grid,
            carry_out,
            tables,
            EPOCHS,
            cache=Path("runs/birds-decoded"),
            ready=make_ready,
            summary=summary,
            older=older_tables,
        ),
        __doc__ or "",
    )
