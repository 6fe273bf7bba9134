"""Lifted structure, original and generalised, against loops anyone can check by eye."""

import math

import pytest
import torch

from samekind.losses import generalised_lifted_structure, lifted_structure, row_blocks
from samekind.pairs import pair_masks
from samekind.similarities import Euclidean

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(z, positive, negative, margin):
    """The original: one positive pair at a time, from the distances."""
    costs = []
    for a, p in positive.nonzero().tolist():
        rivals = negative[a].nonzero()[:, 0].tolist()
        if rivals:
            total = sum(math.exp(margin - math.dist(z[end], z[n])) for end in (a, p) for n in rivals)
            costs.append(max(0.0, math.log(total) + math.dist(z[a], z[p])) ** 2 / 2)
    return sum(costs) / len(costs)


def generalised_by_hand(scores, positive, negative, margin):
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        far = sum(math.exp(-s) for s in row[ahead].tolist())
        near = sum(math.exp(margin + s) for s in row[behind].tolist())
        shares.append(max(0.0, math.log(far) + math.log(near)) if far and near else 0.0)
    return torch.tensor(shares, dtype=scores.dtype)


def a_batch(seed=0):
    """Some positives and negatives of each anchor, as a miner might leave them."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(8, 3, dtype=torch.double, generator=generator)
    same = LABELS[:, None] == LABELS
    drawn = torch.rand(8, 8, generator=generator) < 0.7
    return z, same & drawn & ~torch.eye(8, dtype=torch.bool), ~same & drawn


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("margin", [0.0, 1.0, -2.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_original_agrees_with_its_definition(seed, margin, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    z, *masks = a_batch(seed)
    scores = Euclidean().score_all(z, z)
    between = scores.masked_fill(LABELS[:, None] == LABELS, -torch.inf)
    shares = lifted_structure(scores, *masks, between=between, margin=margin)
    assert shares.mean().item() == pytest.approx(by_hand(z.tolist(), *masks, margin))


@pytest.mark.parametrize("block", [10, 1000])
def test_the_original_has_the_gradient_it_claims_for_both_tables(block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    z, *masks = a_batch()
    scores = Euclidean().score_all(z, z)
    read = LABELS[:, None] != LABELS

    def loss(scores, known):
        between = torch.full((8, 8), -torch.inf).double().masked_scatter(read, known)
        return lifted_structure(scores, *masks, between=between)

    assert torch.autograd.gradcheck(loss, (scores.requires_grad_(), scores.detach()[read].requires_grad_()))


def test_a_pair_looks_the_same_from_both_ends():
    z, *_ = a_batch()
    scores = Euclidean().score_all(z, z)
    between = scores.masked_fill(LABELS[:, None] == LABELS, -torch.inf)
    both, one = (
        lifted_structure(scores, *pair_masks(LABELS, order), between=between).mean()
        for order in ("both", "one")
    )
    torch.testing.assert_close(both, one)


@pytest.mark.parametrize("margin", [0.0, 1.0, -2.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_generalised_agrees_with_its_definition(seed, margin):
    z, *masks = a_batch(seed)
    scores = Euclidean().score_all(z, z)
    torch.testing.assert_close(
        generalised_lifted_structure(scores, *masks, margin=margin),
        generalised_by_hand(scores, *masks, margin),
    )


def test_with_one_positive_and_one_negative_the_generalised_is_the_triplet_hinge():
    scores, positive = torch.tensor([[-0.5, -0.7]]), torch.tensor([[True, False]])
    assert generalised_lifted_structure(scores, positive, ~positive).item() == pytest.approx(0.8)
    assert generalised_lifted_structure(scores, positive, ~positive, margin=0.1).item() == 0
