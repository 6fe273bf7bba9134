"""Triplet loss against a loop anyone can check by eye, and against torch's own."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.losses import row_blocks, triplet
from samekind.miners import hardest
from samekind.pairs import pair_masks
from samekind.similarities import Euclidean


def by_hand(scores, positive, negative, margin):
    """The definition, one anchor at a time."""
    values = []
    for anchor in range(len(scores)):
        ahead = scores[anchor][positive[anchor]].tolist()
        behind = scores[anchor][negative[anchor]].tolist()
        terms = [max(0.0, b - a + margin) for a in ahead for b in behind]
        values.append(sum(terms) / len(terms) if terms else 0.0)
    return torch.tensor(values, dtype=scores.dtype)


def by_definition(scores, positive, negative, margin):
    """The same with every triplet in one tensor, so that it has a gradient."""
    breach = scores[:, None, :] - scores[:, :, None] + margin
    exists = positive[:, :, None] & negative[:, None, :]
    return breach.relu().where(exists, 0).sum((1, 2)) / exists.sum((1, 2)).clamp(min=1)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    anchors=st.integers(1, 6),
    candidates=st.integers(1, 9),
    margin=st.sampled_from([0.0, 0.1, 0.3, 2.0]),
)
def test_agrees_with_the_definition(seed, anchors, candidates, margin):
    """Any masks will do: a candidate is a positive, a negative or neither."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(anchors, candidates, dtype=torch.double, generator=generator).requires_grad_()
    role = torch.randint(3, scores.shape, generator=generator)
    masks = role == 0, role == 1
    shares = triplet(scores, *masks, margin=margin)
    torch.testing.assert_close(shares, by_hand(scores, *masks, margin))
    expected = by_definition(scores, *masks, margin)
    torch.testing.assert_close(
        torch.autograd.grad(shares.sum(), scores), torch.autograd.grad(expected.sum(), scores)
    )


def test_a_far_negative_does_not_take_the_digits_of_a_near_one():
    scores = torch.tensor([[0.9, 0.7, -1e16]], requires_grad=True)
    positive = torch.tensor([[True, False, False]])
    shares = triplet(scores, positive, ~positive, margin=0.3)
    shares.sum().backward()
    assert shares.item() == pytest.approx(0.05)
    assert scores.grad.tolist() == [[-0.5, 0.5, 0.0]]


@settings(max_examples=60)
@given(
    values=st.lists(
        st.tuples(st.sampled_from([-1, 1]), st.floats(1, 10), st.integers(-20, 30), st.integers(0, 2)),
        min_size=1,
        max_size=9,
    ),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_agrees_with_the_definition_at_any_mix_of_magnitudes(values, dtype):
    scores = torch.tensor([[sign * digits * 10.0**power for sign, digits, power, _ in values]], dtype=dtype)
    role = torch.tensor([[role for *_, role in values]])
    masks = role == 0, role == 1
    shares = triplet(scores.requires_grad_(), *masks)
    expected = by_definition(scores, *masks, 0.3)
    # What is left of two large scores has the digits of the large ones.
    digits = torch.finfo(dtype).eps * float(scores.detach().abs().max())
    tolerance = {"rtol": 1e-6 if dtype == torch.float32 else 1e-12, "atol": digits}
    torch.testing.assert_close(shares, expected, **tolerance)
    torch.testing.assert_close(
        torch.autograd.grad(shares.sum(), scores), torch.autograd.grad(expected.sum(), scores)
    )


def test_in_blocks_of_anchors_it_is_the_same(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", 20)
    scores = torch.randn(
        7, 9, dtype=torch.double, generator=torch.Generator().manual_seed(0)
    ).requires_grad_()
    role = torch.arange(63).reshape(7, 9) % 3
    masks = role == 0, role == 1
    shares, expected = triplet(scores, *masks), by_definition(scores, *masks, 0.3)
    torch.testing.assert_close(shares, expected)
    weights = torch.arange(7.0, dtype=torch.double)
    torch.testing.assert_close(
        torch.autograd.grad(shares, scores, weights), torch.autograd.grad(expected, scores, weights)
    )


def test_agrees_with_the_definition_among_ties():
    scores = torch.tensor([[0.5, 0.5, 0.25, 0.25, 0.5, 0.0]]).repeat(4, 1)
    positive = torch.tensor([[True, False, True, False, False, False]]).repeat(4, 1)
    negative = torch.tensor([[False, True, False, True, True, True]]).repeat(4, 1)
    for margin in (0.0, 0.25, 0.5):
        torch.testing.assert_close(
            triplet(scores, positive, negative, margin=margin), by_hand(scores, positive, negative, margin)
        )


def test_is_zero_once_every_positive_is_ahead_by_the_margin():
    scores = torch.tensor([[0.9, 0.5]])
    positive = torch.tensor([[True, False]])
    assert triplet(scores, positive, ~positive, margin=0.3).item() == 0
    assert triplet(scores, positive, ~positive, margin=0.5).item() == pytest.approx(0.1)


def test_a_margin_that_is_just_met_pulls_no_more():
    scores = torch.tensor([[0.75, 0.5]], requires_grad=True)
    positive = torch.tensor([[True, False]])
    shares = triplet(scores, positive, ~positive, margin=0.25)
    shares.sum().backward()
    assert shares.item() == 0
    assert (scores.grad == 0).all()


def test_the_margin_is_the_baselines():
    scores, positive = torch.zeros(1, 2), torch.tensor([[True, False]])
    assert triplet(scores, positive, ~positive).item() == pytest.approx(0.3)


def test_only_differences_of_scores_matter():
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(5, 5, dtype=torch.double, generator=generator)
    masks = pair_masks(torch.tensor([0, 0, 1, 1, 1]))
    torch.testing.assert_close(triplet(scores + 7, *masks), triplet(scores, *masks))


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_without_a_positive_or_without_a_negative_it_costs_nothing(labels):
    masks = pair_masks(torch.tensor(labels))
    assert (triplet(torch.rand(3, 3), *masks) == 0).all()


def test_the_mean_over_mined_rows_is_torchs_own():
    """A mined row holds one triplet, so the mean of shares is the mean over triplets."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(12, 4, dtype=torch.double, generator=generator)
    labels = torch.arange(12) % 3
    scores = Euclidean().score_all(z, z)
    rows, positive, negative = hardest(scores, *pair_masks(labels, order="one"))
    assert len(rows) > 3
    ours = triplet(scores[rows], positive, negative, margin=0.3).mean()
    torchs = torch.nn.TripletMarginLoss(margin=0.3, eps=1e-12)
    expected = torchs(z[rows], z[positive.int().argmax(1)], z[negative.int().argmax(1)])
    torch.testing.assert_close(ours, expected)


def test_many_candidates_fit_in_memory():
    """All triplets in one tensor would be 13 GB here."""
    labels = torch.arange(1500) % 50
    scores = torch.rand(1500, 1500, generator=torch.Generator().manual_seed(0)).requires_grad_()
    masks = pair_masks(labels)
    shares = triplet(scores, *masks)
    shares.mean().backward()
    torch.testing.assert_close(shares[:2], by_definition(scores[:2], *(mask[:2] for mask in masks), 0.3))
    assert scores.grad.isfinite().all()


def softly_by_hand(scores, positive, negative, margin):
    values = []
    for anchor in range(len(scores)):
        ahead = scores[anchor][positive[anchor]].tolist()
        behind = scores[anchor][negative[anchor]].tolist()
        terms = [math.log(1 + math.exp(b - a + margin)) for a in ahead for b in behind]
        values.append(sum(terms) / len(terms) if terms else 0.0)
    return torch.tensor(values, dtype=scores.dtype)


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_soft_margin_agrees_with_its_definition(seed, margin, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(6, 9, dtype=torch.double, generator=generator).requires_grad_()
    role = torch.randint(3, scores.shape, generator=generator)
    masks = role == 0, role == 1
    shares = triplet(scores, *masks, margin=margin, soft=True)
    torch.testing.assert_close(shares, softly_by_hand(scores, *masks, margin))
    assert torch.autograd.gradcheck(lambda leaf: triplet(leaf, *masks, margin=margin, soft=True), scores)


def test_a_soft_margin_keeps_pulling_where_the_hinge_is_met():
    scores = torch.tensor([[0.9, 0.1]], requires_grad=True)
    positive = torch.tensor([[True, False]])
    soft = triplet(scores, positive, ~positive, margin=0.0, soft=True)
    soft.sum().backward()
    assert soft.item() == pytest.approx(math.log1p(math.exp(-0.8)))
    assert scores.grad[0].tolist() == pytest.approx([-1 / (1 + math.exp(0.8)), 1 / (1 + math.exp(0.8))])


def test_scaled_up_the_soft_margin_is_the_hinge():
    scores = torch.randn(6, 6, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    masks = pair_masks(torch.tensor([0, 0, 0, 1, 1, 2]))
    soft = triplet(1e4 * scores, *masks, margin=1e3, soft=True) / 1e4
    torch.testing.assert_close(soft, triplet(scores, *masks, margin=0.1), atol=1e-4, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("value", [0.0, 1e4, -1e4])
@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 1]])
def test_a_soft_margin_is_finite_whatever_the_batch(labels, value, dtype):
    scores = torch.full((4, 4), value, dtype=dtype)
    scores[:, ::2] = -value
    scores.requires_grad_()
    shares = triplet(scores, *pair_masks(torch.tensor(labels)), soft=True)
    shares.sum().backward()
    assert shares.dtype == dtype
    assert shares.isfinite().all()
    assert scores.grad.isfinite().all()
