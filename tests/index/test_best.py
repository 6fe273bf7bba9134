"""The k best, block by block, against sorting everything in plain Python."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SpaceError
from samekind.index import best_of


def walk(scores, *, height, width):
    """A matrix in blocks, rows first, as the similarities give it."""
    rows, columns = scores.shape
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            across = slice(left, min(left + width, columns))
            down = slice(top, min(top + height, rows))
            yield down, across, scores[down, across]


def by_hand(scores, k):
    """Python's sort is stable: equal scores stay in the order of the columns."""
    return [sorted(range(len(row)), key=lambda place: -row[place])[:k] for row in scores.tolist()]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**16),
    rows=st.integers(1, 7),
    columns=st.integers(1, 30),
    k=st.integers(1, 12),
    height=st.integers(1, 4),
    width=st.integers(1, 40),
    levels=st.sampled_from([1, 2, 5, 10_000]),
)
def test_agrees_with_sorting_everything_also_where_scores_tie(seed, rows, columns, k, height, width, levels):
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randint(levels, (rows, columns), generator=draw).float() / 8
    values, which = best_of(walk(scores, height=height, width=width), k=k)
    assert which.tolist() == by_hand(scores, k)
    assert torch.equal(values, scores.gather(1, which))


def test_infinite_scores_and_both_zeros_are_scores_like_others():
    scores = torch.tensor([[-torch.inf, 0.0, -0.0, torch.inf, -torch.inf]])
    assert best_of(walk(scores, height=1, width=2), k=5)[1].tolist() == [[3, 1, 2, 0, 4]]


def test_no_blocks_give_an_empty_answer():
    values, which = best_of([], k=3)
    assert values.shape == which.shape == (0, 0)


def test_refuses_nan():
    with pytest.raises(SpaceError, match="not a number"):
        best_of(walk(torch.tensor([[0.0, torch.nan]]), height=1, width=1), k=1)
