"""Tables under attack: every column keeps its limits, whole numbers stay whole, fixed columns stay."""

import copy

import pytest
import torch
from torch import nn

from samekind.attacks import APGD, L1, L2, PGD, Linf, RandomSearch, Scaled, Voronoi, column_limits
from samekind.attacks.goals import NONE, NoneOfThese, Retrieval, Shift, Trials
from samekind.attacks.regions import Neighbours

UNITS = torch.tensor([10.0, 100.0, 1.0, 20.0, 1.0, 50.0])
WHOLE = torch.tensor([True, True, False, True, False, False])
FIXED = torch.tensor([False, True, True, False, False, False])


class Units(nn.Module):
    """Columns in their own units to numbers in [0, 1]."""

    def forward(self, rows):
        return rows / UNITS


@pytest.fixture(scope="module")
def table(known):
    """Rows with columns of different ranges, some whole numbers, and a space that reads them."""
    rows = known.x * UNITS
    rows = torch.where(WHOLE, rows.round(), rows)
    space = copy.copy(known.space)
    space._modules = {**known.space._modules, "encoder": nn.Sequential(Units(), known.space.encoder)}
    return space, rows, known.labels


GOALS = {
    "trials": lambda space, z, labels: Trials(space, z.roll(-1, 0), labels == labels.roll(-1), kind="cosine"),
    "retrieval": lambda space, z, labels: Retrieval(space, z, labels, labels, own=torch.arange(len(z))),
    "evaded": lambda space, z, labels: NoneOfThese(space, torch.full_like(labels, NONE)),
    "shift": lambda space, z, labels: Shift(space, z),
}


@pytest.mark.parametrize("goal", GOALS)
def test_every_goal_stays_a_row_of_the_table(table, goal):
    space, rows, labels = table
    limits = column_limits(rows, integer=WHOLE, fixed=FIXED)
    with torch.no_grad():
        wanted = GOALS[goal](space, space.embed(rows), labels)
    balls = (Scaled(L2(0.6), UNITS), Scaled(L1(0.8), UNITS), Scaled(Linf(0.4), UNITS))
    cell = Scaled(Voronoi(L2(0.6), Neighbours(rows / UNITS)), UNITS)
    for attack in (*(PGD(ball, steps=8) for ball in balls), APGD(cell, steps=8), RandomSearch(cell, tries=5)):
        attacked = attack(wanted, rows, limits=limits)
        x = attacked.x
        assert torch.equal(x[:, FIXED], rows[:, FIXED])
        assert torch.equal(x[:, WHOLE], x[:, WHOLE].round())
        assert (x >= rows.amin(0)).all()
        assert (x <= rows.amax(0)).all()
        assert attack.region.contains(x, rows).all()
        assert not torch.equal(x, rows)
