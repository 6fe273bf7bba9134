"""A domain that was never shown: a prototypical classifier beside a dense one (the 2021 paper's Table 2).

    python benchmarks/shift --data DIR [--device cuda] [--workers 4] [--budget 240] [--only NAME …]
    python benchmarks/shift --table [--page docs/results/shift.md]

DIR holds what there is of ``plankton.zip``, ``cifar10``, ``mnist`` and ``pacs`` (folders
domain/class/picture); the characters come with the package. A run whose JSON is there is not run again; none
is begun after BUDGET seconds. ``--quick`` tries everything out in a minute or two.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import SEEDS, grid
from grids.command import Grid, command
from tables import tables

if __name__ == "__main__":
    study = Grid("shift", grid, carry_out, tables, SEEDS, counted="seeds", summary=tables)
    command(study, __doc__ or "")
