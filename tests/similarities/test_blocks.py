"""Blocks against the plain double loop over pairs, and how large they may be."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from samekind.similarities import MEMORY_BUDGET, FixedScale, SquaredEuclidean, blocks, score_all


class Counting(nn.Module):
    """A dot product of 10 bytes a pair that notes the shape of each block it is asked for."""

    quantity = "inner product"

    def __init__(self):
        super().__init__()
        self.scale = FixedScale()
        self.asked = []

    def score_all(self, a, b):
        self.asked.append((len(a), len(b)))
        return a @ b.T

    def pair_bytes(self, dimension):
        return 2 * dimension


@settings(max_examples=60)
@given(rows=st.integers(0, 12), columns=st.integers(0, 12), budget=st.integers(1, 2000))
def test_every_pair_once_in_order_and_never_over_the_budget(rows, columns, budget):
    generator = torch.Generator().manual_seed(rows + 13 * columns)
    a, b = torch.randn(rows, 5, generator=generator), torch.randn(columns, 5, generator=generator)
    similarity, seen, filled = Counting(), [], torch.full((rows, columns), torch.nan)
    for down, across, block in blocks(similarity, a, b, memory_budget=budget):
        assert filled[down, across].isnan().all()
        filled[down, across] = block
        seen.append((down.start, across.start))
    torch.testing.assert_close(filled, a @ b.T)
    assert seen == sorted(seen)
    assert all(1 <= high * wide <= max(1, budget // 10) for high, wide in similarity.asked)


def test_what_fits_is_one_block():
    a, b = torch.randn(6, 5), torch.randn(7, 5)
    similarity = Counting()
    score_all(similarity, a, b, memory_budget=6 * 7 * 10)
    assert similarity.asked == [(6, 7)]


def test_a_short_side_leaves_its_room_to_the_long_one():
    """Two queries against a large gallery must not be cut into squares of the budget."""
    for rows, columns in [(2, 100), (100, 2)]:
        similarity = Counting()
        score_all(similarity, torch.randn(rows, 5), torch.randn(columns, 5), memory_budget=50 * 10)
        assert len(similarity.asked) == 4


def test_a_budget_too_small_for_one_pair_goes_pair_by_pair():
    similarity = Counting()
    score_all(similarity, torch.randn(3, 5), torch.randn(2, 5), memory_budget=1)
    assert similarity.asked == [(1, 1)] * 6


def test_the_default_budget_of_a_cpu_fits_a_cache():
    assert 2**20 <= MEMORY_BUDGET["cpu"] <= 2**24


def test_the_gradient_flows_through_the_blocks():
    torch.manual_seed(0)
    a, b = torch.randn(5, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    weights = torch.randn(5, 4)
    similarity = SquaredEuclidean()
    cut = torch.autograd.grad((weights * score_all(similarity, a, b, memory_budget=20)).sum(), (a, b))
    whole = torch.autograd.grad((weights * similarity.score_all(a, b)).sum(), (a, b))
    torch.testing.assert_close(cut, whole)


def test_the_matrix_has_the_type_of_the_scores():
    a, b = torch.randn(3, 5).bfloat16(), torch.randn(2, 5).bfloat16()
    assert score_all(Counting(), a, b, memory_budget=1).dtype == torch.bfloat16
    assert score_all(Counting(), a[:0], b).dtype == torch.bfloat16
