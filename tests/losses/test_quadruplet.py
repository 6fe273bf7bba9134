"""Quadruplet loss against a loop anyone can check by eye."""

import pytest
import torch

from samekind.losses import quadruplet, row_blocks, triplet
from samekind.pairs import pair_masks
from samekind.similarities import SquaredEuclidean


def by_hand(scores, between, positive, negative, labels, margin, second_margin):
    """The definition, one anchor at a time: its triplets, then its quadruplets."""
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        positives, negatives = row[ahead].tolist(), behind.nonzero()[:, 0].tolist()
        pairs = [(n, m) for n in negatives for m in negatives if labels[n] != labels[m]]
        first = [max(0.0, row[n].item() - p + margin) for p in positives for n in negatives]
        second = [max(0.0, between[n, m].item() - p + second_margin) for p in positives for n, m in pairs]
        shares.append(sum(sum(costs) / len(costs) for costs in (first, second) if costs))
    return torch.tensor(shares, dtype=scores.dtype)


def a_batch(labels, share, seed=0, decimals=9):
    """Scores that need not be symmetric, and that part of the positives and negatives of each anchor."""
    generator = torch.Generator().manual_seed(seed)
    scores, between = (
        torch.randn(len(labels), len(labels), dtype=torch.double, generator=generator).round(
            decimals=decimals
        )
        for _ in range(2)
    )
    same = labels[:, None] == labels
    positive, negative = pair_masks(labels)
    chosen = torch.rand(same.shape, generator=generator) < share
    return scores, between.masked_fill(same, -torch.inf), positive & chosen, negative & chosen


MANY = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 6])
FEW = torch.tensor([0, 0, 1, 1, 2, 3, 4])
TWO = torch.tensor([0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("labels", [MANY, FEW, TWO], ids=["many", "few", "two"])
@pytest.mark.parametrize("share", [1.0, 0.9, 0.5, 0.2])
@pytest.mark.parametrize("decimals", [9, 0], ids=["apart", "with ties"])
def test_agrees_with_the_definition(labels, share, decimals):
    for seed, margins in enumerate([(1.0, 0.5), (0.0, 0.0), (2.0, -1.0)]):
        scores, between, *masks = a_batch(labels, share, seed, decimals)
        ours = quadruplet(scores, *masks, between=between, margin=margins[0], second_margin=margins[1])
        torch.testing.assert_close(ours, by_hand(scores, between, *masks, labels, *margins))


@pytest.mark.parametrize("far", [-1e16, 1e16])
@pytest.mark.parametrize("labels", [MANY, TWO], ids=["many", "two"])
def test_one_far_candidate_does_not_take_the_digits_of_the_others(labels, far):
    """Candidate 0 is far from, or hugely like, everyone; an anchor that does not see it keeps its digits."""
    scores, between, *masks = a_batch(labels, 1.0)
    scores[3:, 0] = far
    between[0, 3:] = between[3:, 0] = far
    ours = quadruplet(scores, *masks, between=between)
    expected = by_hand(scores, between, *masks, labels, 1.0, 0.5)
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("value", [torch.inf, torch.nan])
def test_candidates_that_are_no_ones_negative_may_hold_anything(value):
    scores, between, positive, negative = a_batch(MANY, 1.0)
    negative[:, 11] = False
    results = []
    for filling in (0.0, value):
        between[11] = between[:, 11] = filling
        table = between.clone().requires_grad_()
        shares = quadruplet(scores, positive, negative, between=table)
        results.append((shares, *torch.autograd.grad(shares.sum(), table)))
    assert all(torch.equal(*both) for both in zip(*results, strict=True))


@pytest.mark.parametrize(("share", "block"), [(1.0, 1000), (1.0, 10), (0.5, 10)])
def test_has_the_gradient_it_claims_for_both_tables(share, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    scores, between, *masks = a_batch(FEW, share)
    read = between.isfinite()

    def loss(scores, known):
        return quadruplet(
            scores, *masks, between=torch.full_like(between, -torch.inf).masked_scatter(read, known)
        )

    assert torch.autograd.gradcheck(loss, (scores.requires_grad_(), between[read].requires_grad_()))


def test_only_pairs_of_the_other_classes_are_pushed():
    scores, between, *masks = a_batch(MANY, 1.0)
    between.requires_grad_()
    quadruplet(scores, *masks, between=between)[0].backward()
    apart = (MANY[:, None] != MANY) & (MANY[:, None] != 0) & (MANY != 0)
    assert (between.grad[~apart] == 0).all()
    assert (between.grad >= 0).all()
    assert between.grad.sum() > 0


def test_with_two_classes_it_is_the_triplet_loss():
    scores, between, *masks = a_batch(TWO, 1.0)
    torch.testing.assert_close(
        quadruplet(scores, *masks, between=between), triplet(scores, *masks, margin=1.0)
    )


def test_classes_far_apart_cost_nothing():
    centres = 10 * torch.eye(3)
    z = centres.repeat_interleave(2, 0)
    labels = torch.arange(3).repeat_interleave(2)
    scores = SquaredEuclidean().score_all(z, z)
    between = scores.masked_fill(labels[:, None] == labels, -torch.inf)
    assert (quadruplet(scores, *pair_masks(labels), between=between) == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("value", [1e4, -1e4, 1e-30])
def test_huge_and_tiny_scores_between_candidates_do_no_harm(dtype, value):
    _, between, *masks = a_batch(MANY, 1.0)
    between = (
        torch.full_like(between, value, dtype=dtype).masked_fill(between.isinf(), -torch.inf).requires_grad_()
    )
    scores = torch.full((12, 12), -value, dtype=dtype, requires_grad=True)
    shares = quadruplet(scores, *masks, between=between)
    shares.sum().backward()
    assert shares.dtype == between.grad.dtype == dtype
    for tensor in (shares, scores.grad, between.grad):
        assert tensor.isfinite().all()


def test_many_candidates_fit_in_memory():
    """All quadruplets in one tensor would be 3e12 numbers here."""
    labels = torch.arange(600) // 6
    scores, between, *masks = a_batch(labels, 1.0)
    scores.requires_grad_()
    shares = quadruplet(scores, *masks, between=between)
    shares.mean().backward()
    few = [tensor[:1] for tensor in (scores, *masks)]
    direct = scores[0][masks[0][0]].detach()[:, None] - between[masks[1][0]][:, masks[1][0]].flatten()
    first = triplet(*few, margin=1.0)
    second = (0.5 - direct[:, direct[0].isfinite()]).clamp(min=0).mean()
    torch.testing.assert_close(shares[:1], first + second)
    assert scores.grad.isfinite().all()
