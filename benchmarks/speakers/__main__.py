"""Who speaks? Sixty speakers in six folds: cosine, PLDA, learned and fused scores of the same trials.

    python benchmarks/speakers/prepare.py --data DIR --out FEATURES
    python benchmarks/speakers --data FEATURES [--device cuda] [--workers 6] [--budget 450] [--only NAME …]
    python benchmarks/speakers --table [--page docs/results/speakers.md]

DIR holds speakers60.zip and noise.zip. Sounds are read by the first command alone; the second takes the three
files of features that it wrote, and needs no reader of sounds. A run whose JSON exists is not run again, and
one that was stopped goes on at its last epoch; none is begun after BUDGET seconds. ``--quick`` tries
everything out on a few items.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import SEEDS, grid
from grids.command import Grid, command
from tables import tables

if __name__ == "__main__":
    command(Grid("speakers", grid, carry_out, tables, SEEDS, counted="seeds", summary=tables), __doc__ or "")
