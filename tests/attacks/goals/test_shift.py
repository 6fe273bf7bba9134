"""The shift of an embedding: one outcome, raised, never a success."""

import pytest
import torch

from samekind.attacks import PGD, PICTURES, Linf
from samekind.attacks.goals import Shift


@pytest.mark.parametrize("kind", [None, "cosine", "fitted"])
def test_an_attack_moves_further_than_chance(known, kind):
    goal, items = Shift(known.space, known.z, kind=kind), torch.arange(12)
    attacked = PGD(Linf(0.1), steps=15, restarts=4)(goal, known.x, limits=PICTURES)
    assert not attacked.succeeded.any()
    drawn = torch.randn(known.x.shape, generator=torch.Generator().manual_seed(0)).sign()
    by_chance = goal.outcomes(PICTURES.clip(known.x + 0.1 * drawn, known.x), items)
    reached = goal.outcomes(attacked.x, items)
    assert reached.shape == (12, 1)
    assert (reached > by_chance).sum() >= 11  # there may be a local maximum


def test_the_shift_is_the_distance_of_embeddings(known):
    some = torch.tensor([4, 1])
    moved = known.x[some] + 0.05
    expected = (known.space.embed(moved) - known.z[some]).norm(dim=1)
    torch.testing.assert_close(Shift(known.space, known.z).outcomes(moved, some)[:, 0], expected)
