"""Streamed measures against the measures of the stored scores, bit for bit."""

import doctest
import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from samekind.measures import area_under_curve, equal_error_rate, rates_at, streamed, streaming

# Many ties, both zeros, neighbours in float32, tiny and huge numbers, and whatever else there is.
FEW = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.0000001, 0.99999994, 1e-45, -1e-45, 1e-38, 3e38, -3e38])
ANY = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)
NARROW = st.integers(0, 40).map(lambda number: 0.5 + number * 2**-24)


@st.composite
def trials(draw):
    kind = draw(st.sampled_from([FEW, ANY, NARROW]))
    pairs = draw(st.lists(st.tuples(kind, st.booleans()), min_size=2, max_size=40))
    scores, same = torch.tensor([s for s, _ in pairs]), torch.tensor([k for _, k in pairs])
    assume(same.any() and not same.all())
    return scores, same


class Walks:
    """The same trials in blocks, as often as asked for; counts how often that was."""

    def __init__(self, scores, same, size=7):
        self.blocks = list(zip(torch.split(scores, size), torch.split(same, size), strict=True))
        self.made = 0

    def __call__(self):
        self.made += 1
        yield from self.blocks


def normal(count, apart=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    same = torch.rand(count, generator=generator) < 0.2
    return torch.randn(count, generator=generator) / 8 + apart / 8 * same, same


@pytest.mark.parametrize("memory_budget", [0, None])
@examples(max_examples=40)
@given(given_trials=trials())
def test_exact_is_what_the_stored_scores_give(memory_budget, given_trials):
    scores, same = given_trials
    walks = Walks(scores, same)
    result = streamed(walks, memory_budget=memory_budget)
    assert (result.equal_error, result.threshold) == equal_error_rate(scores, same)
    assert result.area == area_under_curve(scores, same)
    assert (result.same, result.different) == (int(same.sum()), int((~same).sum()))
    assert result.passes == walks.made
    assert result.equal_error_bounds == (result.equal_error, result.equal_error)
    assert result.area_bounds == (result.area, result.area)
    assert result.threshold_bounds == (result.threshold, result.threshold)


@examples(max_examples=40)
@given(trials())
def test_two_walks_are_enough_for_the_equal_error_rate(given_trials):
    scores, same = given_trials
    walks = Walks(scores, same)
    result = streamed(walks, exact="equal error")
    assert (result.equal_error, result.threshold) == equal_error_rate(scores, same)
    assert result.area_bounds[0] <= area_under_curve(scores, same) <= result.area_bounds[1]
    assert result.passes == walks.made == 2


@examples(max_examples=60)
@given(trials())
def test_one_walk_bounds_what_is_exact(given_trials):
    scores, same = given_trials
    walks = Walks(scores, same)
    result, exact = streamed(walks, exact=False), equal_error_rate(scores, same)
    assert walks.made == result.passes == 1
    assert result.equal_error_bounds[0] <= exact.rate <= result.equal_error_bounds[1]
    assert result.threshold_bounds[0] <= exact.threshold <= result.threshold_bounds[1]
    assert result.area_bounds[0] <= area_under_curve(scores, same) <= result.area_bounds[1]
    # What is reported is an operating point of its own, and within the bounds too.
    assert result.equal_error == sum(rates_at(scores, same, result.threshold)) / 2
    for value, bounds in (
        (result.equal_error, result.equal_error_bounds),
        (result.threshold, result.threshold_bounds),
        (result.area, result.area_bounds),
    ):
        assert bounds[0] <= value <= bounds[1]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("memory_budget", [2**20, 2**26])
def test_many_trials_in_little_memory(monkeypatch, keep, memory_budget):
    """With bins counted or kept, over one walk or several, always the same."""
    plan = streaming._groups
    monkeypatch.setattr(
        streaming,
        "_groups",
        lambda *given, **named: plan(*given, **{**named, "keep": keep and named["keep"]}),
    )
    scores, same = normal(20_000, apart=3.0)
    scores = (scores * 2**9).round() / 2**9 if not keep else scores  # fewer bins, or many walks are needed
    result = streamed(Walks(scores, same, size=6000), memory_budget=memory_budget)
    assert (result.equal_error, result.threshold) == equal_error_rate(scores, same)
    assert result.area == area_under_curve(scores, same)
    assert (result.passes > 2) == (memory_budget == 2**20 and not keep)


def test_the_bounds_of_many_trials_are_narrow():
    result = streamed(Walks(*normal(200_000), size=50_000), exact=False)
    assert result.area_bounds[1] - result.area_bounds[0] < 5e-4
    assert result.equal_error_bounds[1] - result.equal_error_bounds[0] < 2e-3


def test_scores_that_are_all_equal_and_scores_apart():
    same = torch.tensor([True, False, False])
    constant = streamed(Walks(torch.full((3,), 0.3), same))
    assert (constant.equal_error, constant.area) == (0.5, 0.5)
    assert constant.threshold == torch.tensor(0.3).item()
    apart = streamed(Walks(torch.tensor([3.0, 2.0, 1.0]), same))
    assert (apart.equal_error, apart.threshold, apart.area) == (0.0, 3.0, 1.0)


def test_blocks_of_any_size_even_empty_and_in_any_order():
    scores, same = normal(500)
    blocks = Walks(scores, same, size=33).blocks
    empty = torch.empty(0), torch.empty(0, dtype=torch.bool)
    expected = streamed(Walks(scores, same, size=500))
    assert streamed(lambda: iter([empty, *reversed(blocks)])) == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_shorter_floats_are_exact_too(dtype):
    scores, same = normal(300)
    scores = scores.to(dtype)
    result = streamed(Walks(scores, same))
    assert (result.equal_error, result.threshold) == equal_error_rate(scores, same)
    assert result.area == area_under_curve(scores, same)


@pytest.mark.parametrize("threshold", [-math.inf, 0.0, 0.1, math.inf])
@pytest.mark.parametrize("exact", [True, False])
def test_the_rates_at_a_threshold_are_exact(threshold, exact):
    scores, same = normal(500)
    result = streamed(Walks(scores, same), threshold=threshold, exact=exact)
    assert (result.false_accepts, result.false_rejects) == rates_at(scores, same, threshold)


def test_no_threshold_no_rates():
    result = streamed(Walks(*normal(50)))
    assert result.false_accepts is None
    assert result.false_rejects is None


def test_counts_beyond_int64_are_exact():
    """Two cells of a bin with four billion trials of each kind: their product is beyond 2^63."""
    many = 2**33
    cells = torch.zeros(1, 2, streaming.CELLS, dtype=torch.int64)
    cells[0, :, 5], cells[0, :, 9] = many, many + 1
    bin = streaming._Bin(3, 2 * many + 1, 2 * many + 1)
    # Impostors in the lower cell lose against the targets in the upper; the rest are ties.
    expected = 2 * many * (many + 1) + many**2 + (many + 1) ** 2
    assert streaming._won_within(cells, [bin]) == expected


def test_walks_that_differ_are_noticed():
    scores, same = torch.tensor([0.5, 0.5, 0.5, 0.5]), torch.tensor([True, True, False, False])
    walks = iter([[(scores, same)], [(scores[1:], same[1:])]])
    with pytest.raises(
        ValueError, match=r"expected the same trials on every walk, got 4 .* and 3 on a later"
    ):
        streamed(lambda: iter(next(walks)))


@pytest.mark.parametrize("same", [[True, True], [False, False]])
def test_refuses_trials_of_one_kind(same):
    with pytest.raises(ValueError, match="expected trials of both kinds"):
        streamed(Walks(torch.zeros(2), torch.tensor(same)))


def test_refuses_no_trials():
    with pytest.raises(ValueError, match="expected trials of both kinds, got 0 same and 0 different"):
        streamed(lambda: iter([]))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(streaming)
    assert outcome.attempted > 0
    assert outcome.failed == 0
