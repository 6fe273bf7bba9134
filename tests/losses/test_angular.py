"""Angular loss against a loop anyone can check by eye."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import angular, row_blocks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(z, candidates, positive, negative, alpha):
    """The definition, from the vectors themselves."""
    slope = math.tan(math.radians(alpha)) ** 2
    shares = []
    for a, ahead, behind in zip(z, positive, negative, strict=True):
        costs = []
        for p in candidates[ahead]:
            reach = [
                4 * slope * ((a + p) @ n).item() - 2 * (1 + slope) * (a @ p).item()
                for n in candidates[behind]
            ]
            if reach:
                costs.append(math.log(1 + sum(math.exp(logit) for logit in reach)))
        shares.append(sum(costs) / len(costs) if costs else 0.0)
    return torch.tensor(shares, dtype=z.dtype)


def a_batch(seed=0):
    """Some positives and negatives of each anchor, as a miner might leave them."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(8, 3, dtype=torch.double, generator=generator)
    same = LABELS[:, None] == LABELS
    drawn = torch.rand(8, 8, generator=generator) < 0.7
    return (
        z,
        (z @ z.T).masked_fill(same, -torch.inf),
        same & drawn & ~torch.eye(8, dtype=torch.bool),
        ~same & drawn,
    )


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("alpha", [20.0, 45.0, 60.0])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_the_definition(seed, alpha, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    z, between, *masks = a_batch(seed)
    ours = angular(z @ z.T, *masks, between=between, alpha=alpha)
    torch.testing.assert_close(ours, by_hand(z, z, *masks, alpha))


@pytest.mark.parametrize("block", [10, 1000])
def test_has_the_gradient_it_claims_for_both_tables(block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    z, between, *masks = a_batch()
    read = between.isfinite()

    def loss(scores, known):
        return angular(
            scores, *masks, between=torch.full((8, 8), -torch.inf).double().masked_scatter(read, known)
        )

    assert torch.autograd.gradcheck(loss, ((z @ z.T).requires_grad_(), between[read].requires_grad_()))


def test_at_forty_five_degrees_a_negative_far_from_both_costs_little():
    """An anchor and its positive at (1, 0), a negative opposite: ln(1 + exp(-8 - 4))."""
    scores, between = torch.tensor([[1.0, -1.0]]), torch.tensor([[-torch.inf, -1.0], [-1.0, -torch.inf]])
    positive = torch.tensor([[True, False]])
    share = angular(scores.double(), positive, ~positive, between=between.double())
    assert share.item() == pytest.approx(math.log1p(math.exp(-12.0)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("value", [1e4, -1e4, 0.0])
def test_huge_scores_between_candidates_do_no_harm(dtype, value):
    _, between, *masks = a_batch()
    between = (
        torch.full_like(between, value, dtype=dtype).masked_fill(between.isinf(), -torch.inf).requires_grad_()
    )
    scores = torch.full((8, 8), -value, dtype=dtype, requires_grad=True)
    shares = angular(scores, *masks, between=between)
    shares.sum().backward()
    assert shares.dtype == dtype
    assert shares.isfinite().all()
    assert scores.grad.isfinite().all()
    assert between.grad.isfinite().all()


@pytest.mark.parametrize("alpha", [0.0, 90.0, -45.0])
def test_refuses_an_angle_outside_of_0_to_90_degrees(alpha):
    z, between, *masks = a_batch()
    with pytest.raises(SettingError, match=f"between 0 and 90 degrees, got {alpha}"):
        angular(z @ z.T, *masks, between=between, alpha=alpha)
