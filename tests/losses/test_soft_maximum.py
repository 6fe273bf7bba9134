"""log Σ exp over a mask, against a loop, and where torch's own would give NaN."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.losses.soft_maximum import soft_maximum


def by_hand(scores, mask, factor):
    """Row by row; None where nothing is masked."""
    rows = []
    for row, marks in zip(scores.tolist(), mask.tolist(), strict=True):
        powers = [math.exp(factor * score) for score, keep in zip(row, marks, strict=True) if keep]
        rows.append(math.log(sum(powers)) if powers else None)
    return rows


def some(rows, columns, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, columns, dtype=torch.double, generator=generator)
    return scores, torch.rand(rows, columns, generator=generator) < 0.6


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 4),
    columns=st.integers(1, 6),
    factor=st.sampled_from([1.0, -2.0, 30.0]),
    dim=st.sampled_from([0, 1]),
)
def test_agrees_with_the_definition(seed, rows, columns, factor, dim):
    scores, mask = some(rows, columns, seed)
    maxima = soft_maximum(scores, mask, factor=factor, dim=dim)
    along = (scores, mask) if dim == 1 else (scores.T, mask.T)
    for value, expected in zip(maxima.tolist(), by_hand(*along, factor), strict=True):
        assert value < -1e30 if expected is None else value == pytest.approx(expected)


@pytest.mark.parametrize("dim", [0, 1])
def test_has_the_gradient_it_claims(dim):
    scores, mask = some(5, 4)
    factor = torch.tensor(1.7, dtype=torch.double, requires_grad=True)

    def tamed(scores, factor):
        return torch.nn.functional.softplus(soft_maximum(scores, mask, factor=factor, dim=dim))

    assert torch.autograd.gradcheck(tamed, (scores.requires_grad_(), factor))


def test_a_factor_that_is_learned_has_a_gradient_of_its_own_type():
    scores, mask = some(3, 4)
    factor = torch.tensor(2.0, requires_grad=True)
    soft_maximum(scores[:, :2], torch.ones_like(mask[:, :2]), factor=factor).sum().backward()
    weights = (2 * scores[:, :2]).softmax(1)
    assert factor.grad.dtype == torch.float32
    assert factor.grad.item() == pytest.approx((weights * scores[:, :2]).sum().item())


def test_an_empty_sum_has_no_gradient_and_two_of_them_add_up():
    scores = torch.randn(2, 3, requires_grad=True)
    nobody = torch.zeros(2, 3, dtype=torch.bool)
    twice = soft_maximum(scores, nobody) + soft_maximum(scores, nobody, factor=50.0)
    assert twice.isfinite().all()
    torch.nn.functional.softplus(twice).sum().backward()
    assert (scores.grad == 0).all()


def test_a_sum_over_no_candidates_is_hugely_negative():
    scores = torch.zeros(3, 0, requires_grad=True)
    mask = torch.zeros(3, 0, dtype=torch.bool)
    maxima = soft_maximum(scores, mask)
    maxima.sum().backward()
    assert maxima.shape == (3,)
    assert (maxima < -1e30).all()
    assert soft_maximum(scores, mask, dim=0).shape == (0,)


def test_large_numbers_neither_overflow_nor_vanish():
    scores = torch.tensor([[1e4, -1e4, 1e4 - 1]], requires_grad=True)
    maxima = soft_maximum(scores, torch.ones(1, 3, dtype=torch.bool))
    maxima.sum().backward()
    assert maxima.item() == pytest.approx(1e4 + math.log1p(math.exp(-1)), abs=1e-3)
    torch.testing.assert_close(scores.grad, torch.tensor([[0.7311, 0.0, 0.2689]]), atol=1e-3, rtol=0)


def test_half_precision_is_summed_in_full():
    scores, mask = some(4, 6)
    rough = scores.bfloat16().requires_grad_()
    maxima = soft_maximum(rough, mask, factor=30.0)
    maxima.sum().backward()
    assert maxima.dtype == torch.float32
    assert rough.grad.dtype == torch.bfloat16
    torch.testing.assert_close(maxima, soft_maximum(rough.detach().float(), mask, factor=30.0))


def test_leaves_the_scores_alone():
    scores, mask = some(3, 4)
    before = scores.clone()
    soft_maximum(scores.requires_grad_(), mask).sum().backward()
    assert torch.equal(scores, before)
