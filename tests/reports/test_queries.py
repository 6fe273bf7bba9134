"""Which queries are shown: at random, but with mistakes among them where there are any."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.reports.queries import choose_queries


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(0, 5), st.integers(0, 10))
def test_queries_are_different_items_and_the_last_are_mistakes(count, wrong, seed):
    labels = torch.zeros(count, dtype=torch.int64)
    nearest = (torch.arange(count) < wrong).long()
    chosen, mistakes, all_mistakes = choose_queries(labels, nearest, seed=seed)
    assert len(set(chosen.tolist())) == len(chosen) == min(8, count)
    assert all_mistakes == min(wrong, count)
    assert mistakes == min(2, all_mistakes)
    assert (nearest[chosen[len(chosen) - mistakes :]] == 1).all()


def test_the_seed_decides():
    labels = torch.zeros(100, dtype=torch.int64)
    first, again, other = (choose_queries(labels, labels, seed=seed).indices for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_more_mistakes_than_queries_are_not_too_many():
    labels = torch.zeros(5, dtype=torch.int64)
    assert len(choose_queries(labels, labels + 1, count=1, mistakes=2).indices) == 1
