"""A cost in blocks of rows is the cost all at once, and so is its gradient."""

import pytest
import torch

from samekind.losses import row_blocks
from samekind.losses.row_blocks import mean_by_anchor, positive_pairs, row_by_row


def cost(score, other, counted, shared):
    return ((score * other).exp() * counted + shared).sum(1)


def a_call(dtype=torch.double):
    """Scores read by index, another table row for row, a mask, and a vector that all rows share."""
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape):
        return torch.rand(shape, dtype=dtype, generator=generator).requires_grad_()

    index = torch.tensor([0, 0, 1, 2, 2, 2, 0])
    mask = torch.rand(7, 4, generator=generator) < 0.5
    return (drawn(3, 4), index), (drawn(7, 4), None), (mask, None), (drawn(4), ...)


@pytest.fixture(params=[1, 8, 12, 27, 28, 1000])
def block(request, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", request.param)
    return request.param


def test_agrees_with_the_cost_all_at_once(block):
    (scores, index), (other, _), (mask, _), (shared, _) = tables = a_call()
    ours, expected = row_by_row(cost, *tables), cost(scores[index], other, mask, shared)
    torch.testing.assert_close(ours, expected)
    weights = torch.arange(7.0, dtype=torch.double)
    leaves = scores, other, shared
    torch.testing.assert_close(
        torch.autograd.grad(ours, leaves, weights), torch.autograd.grad(expected, leaves, weights)
    )


def test_a_block_is_no_larger_than_it_may_be(block):
    sizes = []

    def watched(score, *rest):
        sizes.append(len(score))
        return cost(score, *rest)

    row_by_row(watched, *a_call())
    assert sum(sizes) == 7
    assert max(sizes) <= max(1, block // 4)


def test_a_table_without_gradient_gets_none(block):
    (scores, index), (other, _), (mask, _), (shared, _) = a_call()
    tables = (scores.detach(), index), (other, None), (mask, None), (shared.detach(), ...)
    row_by_row(cost, *tables).sum().backward()
    assert other.grad is not None
    assert not row_by_row(cost, *((table.detach(), place) for table, place in tables)).requires_grad


def test_half_precision_is_computed_and_summed_in_full(block):
    rough = a_call(torch.bfloat16)
    full = [(table.detach(), place) for table, place in rough]
    full = [(table.float() if table.is_floating_point() else table, place) for table, place in full]
    full = [(table.requires_grad_() if table.is_floating_point() else table, place) for table, place in full]
    ours, expected = row_by_row(cost, *rough), row_by_row(cost, *full)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, expected)
    ours.sum().backward()
    expected.sum().backward()
    for (mine, _), (right, _) in zip(rough, full, strict=True):
        if mine.is_floating_point():
            torch.testing.assert_close(mine.grad, right.grad.bfloat16())


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_nothing_costs_nothing(shape):
    scores = torch.zeros(shape, requires_grad=True)
    costs = row_by_row(lambda score: score.amax(1), (scores, None))
    costs.sum().backward()
    assert torch.equal(costs, torch.zeros(shape[0]))


def test_positive_pairs_are_those_with_something_to_compare():
    positive = torch.tensor([[True, True, False], [False, True, False], [False, False, False]])
    negative = torch.tensor([[False, False, True], [False, False, False], [True, True, False]])
    anchors, positives = positive_pairs(positive, negative)
    assert list(zip(anchors.tolist(), positives.tolist(), strict=True)) == [(0, 0), (0, 1)]
    shares = mean_by_anchor(torch.tensor([1.0, 4.0]), anchors, positive)
    assert shares.tolist() == [2.5, 0.0, 0.0]
