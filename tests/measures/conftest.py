"""The tree of CIFAR-100 in the thesis, for the measures that its tables print."""

import csv
from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session")
def cifar100_distances():
    """The steps between every two classes, by the common beginning of their paths."""
    with (Path(__file__).parents[1] / "taxonomy" / "cifar100_taxonomy.csv").open(newline="") as file:
        paths = [row["path"].split("/") for row in csv.DictReader(file)]
    rows = []
    for one in paths:
        shared = [sum(1 for _ in _common(one, other)) for other in paths]
        rows.append([len(one) + len(other) - 2 * s for other, s in zip(paths, shared, strict=True)])
    return torch.tensor(rows, dtype=torch.double)


def _common(one, other):
    for first, second in zip(one, other, strict=False):
        if first != second:
            return
        yield first
