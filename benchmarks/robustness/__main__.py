"""A published attack beside a sound one: the 2021 paper's Table 1 on undefended models of MNIST and CIFAR-10.

    python benchmarks/robustness --data DIR [--device cuda] [--workers 6] [--budget 240] [--only NAME …]
    python benchmarks/robustness --table [--page docs/results/robustness.md]

DIR holds ``mnist`` (the four IDX files) and ``cifar10`` (the files of its authors, or sprites). A run whose
JSON is there is not run again; none is begun after BUDGET seconds. ``--quick`` tries everything out in about
a minute: on scikit-learn's digits, and on a few pictures of what DIR has.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from carry_out import carry_out
from grid import SEEDS, grid
from grids.command import Grid, command
from tables import tables

if __name__ == "__main__":
    study = Grid("robustness", grid, carry_out, tables, SEEDS, counted="seeds", summary=tables)
    command(study, __doc__ or "")
