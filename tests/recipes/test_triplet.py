"""The triplet recipe: one step against the definition, and the settings of the baseline."""

import pytest
import torch
import torch.nn.functional as F

from samekind.data import clusters
from samekind.recipes import triplet
from samekind.training import Optimiser, Penalty, Schedule, Term, build_space
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.terms import build_penalties, build_terms

LABELS = torch.tensor([0, 0, 2, 2, 0, 3])


def test_the_settings_are_those_of_the_baseline():
    run = triplet((3, 32, 32))
    assert run.terms["triplet"] == Term(
        "triplet", against="batch", miner="hardest", order="one", arguments={"margin": 0.3}
    )
    margin = {"margin": 0.35, "smoothing": 0.2}
    assert run.terms["auxiliary"] == Term("additive_margin", against="auxiliary", arguments=margin)
    assert run.penalties == {"spread": Penalty("spread", weight=0.1)}
    assert run.optimiser == Optimiser("SGD", rate=0.01, momentum=0.9, weight_decay=1e-4)
    assert run.schedule == Schedule("plateau", factor=0.5, patience=10)


def mined(z, labels):
    """The cost of each positive pair, earlier item first, with the hardest negative of its anchor."""
    costs, margins = [], []
    for a in range(len(z)):
        for p in range(a + 1, len(z)):
            if labels[a] == labels[p]:
                near = (z[a] - z[p]).norm()
                far = min((z[a] - z[n]).norm() for n in range(len(z)) if labels[n] != labels[a])
                margins.append((near - far + 0.1).item())
                costs.append((near - far + 0.3).clamp(min=0))
    active = [cost for cost, margin in zip(costs, margins, strict=True) if margin > 0]
    return active or [costs[margins.index(max(margins))]]


@pytest.mark.parametrize("spread_out", [False, True])
def test_one_step_is_the_head_the_mined_triplets_and_the_spread(spread_out):
    items = clusters(classes=4, items=3, dimension=6)
    run = triplet(items.shape).override(["terms.auxiliary.smoothing=0", "space.encoder.dimension=5"])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        space, z = build_space(run, items), torch.randn(6, 5)
    if spread_out:  # every class a direction of its own: no triplet is hard enough to be mined
        z = F.one_hot(LABELS, 5) + 0.05 * z
    costs = objective(space, z, LABELS, Context(build_terms(run, space), build_penalties(run))).costs
    assert list(costs) == ["triplet", "auxiliary", "spread"]

    sphere = z / z.norm(dim=1, keepdim=True)
    active = mined(sphere, LABELS.tolist())
    assert (len(active) == 1) == spread_out
    assert costs["triplet"].item() == pytest.approx(sum(active).item() / len(active), abs=1e-5)
    cosines = sphere @ F.normalize(space.auxiliary.prototypes.vectors[:, 0], dim=1).T
    logits = 30 * (cosines - 0.35 * F.one_hot(LABELS, 4))
    torch.testing.assert_close(costs["auxiliary"], F.cross_entropy(logits, LABELS))
    nearest = [min((sphere[i] - sphere[j]).norm() for j in range(6) if i != j) for i in range(6)]
    torch.testing.assert_close(costs["spread"], -0.1 * sum(nearest) / 6)
