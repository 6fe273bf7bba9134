"""Every attack serves every goal, in balls and in Voronoi cells: nothing is left out of the table."""

import pytest
import torch

from samekind import attacks
from samekind.attacks import (
    APGD,
    BIM,
    FAB,
    FGSM,
    L2,
    PGD,
    PICTURES,
    Aimed,
    CarliniWagner,
    DeepFool,
    HopSkipJump,
    Linf,
    Neighbours,
    RandomSearch,
    Several,
    Square,
    Transfer,
    Voronoi,
    Within,
)
from samekind.attacks.goals import NONE, Enrolments, NoneOfThese, Retrieval, Shift, Trials
from samekind.errors import SettingError

REGION = Linf(0.3)
#: Name -> a function of the goal (a surrogate is made from it) that gives the attack.
MADE = {
    "APGD": lambda goal: APGD(REGION, steps=5),
    "Aimed": lambda goal: Aimed(PGD(REGION, steps=4), count=2),
    "BIM": lambda goal: BIM(REGION, steps=4),
    "CarliniWagner": lambda goal: CarliniWagner(steps=20, searches=2),
    "DeepFool": lambda goal: DeepFool(steps=4),
    "FAB": lambda goal: FAB(steps=4, restarts=1),
    "FGSM": lambda goal: FGSM(REGION),
    "HopSkipJump": lambda goal: HopSkipJump(steps=2, draws=20),
    "PGD": lambda goal: PGD(REGION, steps=4),
    "RandomSearch": lambda goal: RandomSearch(REGION, tries=10),
    "Several": lambda goal: Several((FGSM(REGION), PGD(REGION, steps=4))),
    "Square": lambda goal: Square(REGION, queries=20),
    "Transfer": lambda goal: Transfer(PGD(REGION, steps=4), goal),
    "Within": lambda goal: Within(FAB(steps=4), REGION),
    "Several, on all": lambda goal: Several((FGSM(REGION), PGD(REGION, steps=4)), on_all=True),
}


#: Attacks for the least change, which need a wrong answer to look for.
LEAST = ("CarliniWagner", "DeepFool", "FAB", "HopSkipJump", "Within")


def goals(known):
    """Every goal of the room with the items it is about."""
    space, x, z, labels = known.space, known.x, known.z, known.labels
    sets, queries = x.reshape(3, 4, 6).transpose(0, 1)[:, :2], z.reshape(3, 4, 4).transpose(0, 1)
    yield x, Trials(space, z.roll(-1, 0), torch.zeros(12, dtype=torch.bool), kind="fitted")
    yield x, Retrieval(space, z, labels, labels, own=torch.arange(12))
    yield sets, Enrolments(space, queries, torch.ones(4, dtype=torch.bool), kind="cosine")
    yield x, NoneOfThese(space, labels, target=torch.full_like(labels, NONE))
    yield x, Shift(space, z)


@pytest.mark.parametrize("name", [*attacks.ATTACKS, "Several, on all"])
def test_an_attack_serves_every_goal(known, name):
    assert name in MADE, f"make a small {name} in MADE of this file"
    for x, goal in goals(known):
        attack = MADE[name](goal)
        if isinstance(goal, Shift) and name in LEAST:
            with pytest.raises(SettingError, match="no wrong answer"):
                attack(goal, x, limits=PICTURES)
            continue
        attacked = attack(goal, x, limits=PICTURES)
        outcomes = goal.outcomes(attacked.x, torch.arange(len(x))).detach()
        answers = outcomes.argmax(1)
        wrong = answers != goal.truth if goal.target is None else answers == goal.target
        assert torch.equal(attacked.succeeded, wrong & (outcomes.shape[1] > 1)), type(goal).__name__
        assert 0 <= attacked.x.min() <= attacked.x.max() <= 1
        assert attacked.x.isfinite().all()


CELLS = {
    "APGD": lambda cells: APGD(cells, steps=5),
    "FGSM": lambda cells: FGSM(cells),
    "PGD": lambda cells: PGD(cells, steps=4),
    "RandomSearch": lambda cells: RandomSearch(cells, tries=5),
    "Square": lambda cells: Square(cells, queries=10),
}


@pytest.mark.parametrize("name", CELLS)
def test_an_attack_stays_in_its_cells(known, name):
    for x, goal in goals(known):
        cells = Voronoi(L2(0.5), Neighbours(x))
        attacked = CELLS[name](cells)(goal, x, limits=PICTURES)
        assert cells.contains(attacked.x, x).all(), type(goal).__name__
