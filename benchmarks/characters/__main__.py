"""How many classes a learned similarity needs: a grid of runs on Omniglot, one JSON a run, and its table.

    python benchmarks/characters --data omniglot.npz [--workers 2] [--steps 3000] [--only NAME …]
    python benchmarks/characters --table [--page docs/results/similarity.md]

Each system is trained with 40 to 940 characters, always with about as many batches, and asked about 100
characters of other alphabets. A run whose JSON is there is not run again. ``--quick`` tries it out with 60
steps, its results in the folder of WORK.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import STEPS, grid
from grids.command import Grid, command
from tables import older_tables, tables

if __name__ == "__main__":
    study = Grid(
        "characters", grid, carry_out, tables, STEPS, counted="steps", mark="characters", older=older_tables
    )
    command(study, __doc__ or "")
