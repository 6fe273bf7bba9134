"""Pool adjacent violators against one violation at a time, in fractions, and scikit-learn."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression

from samekind.measures.pooling import pool_adjacent_violators
from samekind.measures.sorted_trials import Levels

COUNTS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any),
    min_size=1,
    max_size=20,
)


def levels(counts):
    return Levels(
        torch.arange(len(counts)).double(),
        torch.tensor([count[0] for count in counts]),
        torch.tensor([value[1] for value in counts]),
    )


def one_at_a_time(counts):
    """(first score, targets, impostors) of each block: the last two are pooled while they do not rise."""
    blocks = []
    for score, (targets, impostors) in enumerate(counts):
        blocks.append([score, targets, impostors])
        while len(blocks) > 1 and share(blocks[-2]) >= share(blocks[-1]):
            _, more, others = blocks.pop()
            blocks[-1][1] += more
            blocks[-1][2] += others
    return blocks


def share(block):
    return Fraction(block[1], block[1] + block[2])


@examples(max_examples=80)
@given(COUNTS)
def test_agrees_with_one_violation_at_a_time(counts):
    pooled = pool_adjacent_violators(levels(counts))
    result = [list(value) for value in zip(*(field.tolist() for field in pooled), strict=True)]
    assert result == one_at_a_time(counts)


@examples(max_examples=30)
@given(COUNTS)
def test_the_shares_are_the_isotonic_regression_of_scikit_learn(counts):
    given_levels = levels(counts)
    totals = (given_levels.targets + given_levels.impostors).double()
    expected = isotonic_regression(
        (given_levels.targets / totals).numpy(), sample_weight=totals.numpy()
    ).tolist()
    pooled = pool_adjacent_violators(given_levels)
    block = torch.searchsorted(pooled.scores, given_levels.scores, right=True) - 1
    shares = pooled.targets.double() / (pooled.targets + pooled.impostors)
    assert shares[block].tolist() == pytest.approx(expected)


def test_a_fall_at_the_end_takes_back_everything_it_must():
    """Shares 1/4, 2/4, 3/4, then many impostors: each round pools one block more."""
    pooled = pool_adjacent_violators(levels([(1, 3), (2, 2), (3, 1), (0, 100)]))
    assert [value.tolist() for value in pooled] == [[0], [6], [106]]
