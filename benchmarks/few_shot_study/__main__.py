"""Few-shot learning: distance ratios against softmax by tasks, on birds and characters, and the house recipe.

    python benchmarks/few_shot_study --data DIR [--device cuda] [--workers 6] [--budget 400] [--only NAME …]
    python benchmarks/few_shot_study --table [--page docs/results/few-shot.md]

DIR holds cub200.zip and omniglot.npz. Pictures are decoded once, and lie on the device for all runs of a
process. A run whose JSON exists is not run again; none is begun after BUDGET seconds. ``--quick`` tries
everything out on a few items. Runs on "birds-short" and "omniglot-short" fit a CPU, one thread is enough:

    --only {omniglot,birds}-short-conv4-proto-{softmax,dr}-{1,5}shot
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
            "few-shot",
            grid,
            carry_out,
            tables,
            SEEDS,
            counted="seeds",
            cache=Path("runs/few-shot-decoded"),
            ready=make_ready,
            summary=summary,
        ),
        __doc__ or "",
    )
