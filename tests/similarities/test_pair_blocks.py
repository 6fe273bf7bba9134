"""Scores by blocks in the cache against the definition, and what the blocks are."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from samekind.similarities import PairsNetwork, blocks, pair_blocks, score_all
from samekind.similarities.pair_blocks import PairBlocks, shape_of_blocks
from samekind.similarities.pairs_network import concatenated

DIMENSION = 5


def network(**arguments):
    torch.manual_seed(0)
    arguments = {"hidden": 6, "depth": 3, **arguments}
    return PairsNetwork(dimension=DIMENSION, **arguments).eval()


def some(count, *, seed=1, dtype=torch.float32):
    return torch.randn(count, DIMENSION, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.fixture(autouse=True)
def however_few(monkeypatch):
    """Pairs that are few enough for the plain way go by blocks all the same."""
    monkeypatch.setattr(pair_blocks, "FEWEST_PAIRS", 0)


@pytest.fixture
def tiny_cache(monkeypatch):
    """Room for seven pairs of six float32 units a thread."""
    monkeypatch.setattr(pair_blocks, "CACHE", 7 * 2 * 4 * 6)


@pytest.mark.usefixtures("tiny_cache")
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("slope", [0.1, 0.0, 1.5])
@torch.no_grad()
def test_agrees_with_the_definition(depth, slope):
    similarity = network(depth=depth, slope=slope).double()
    for rows, columns in [(1, 1), (1, 50), (50, 1), (13, 40), (40, 13), (0, 3), (3, 0)]:
        a, b = some(rows, dtype=torch.double), some(columns, dtype=torch.double, seed=2)
        frozen = similarity.frozen(a, b)
        assert isinstance(frozen, PairBlocks)
        expected = concatenated(similarity, a, b)
        torch.testing.assert_close(frozen.score_all(a, b), expected)
        torch.testing.assert_close(frozen.score_all(a, b), expected)  # with used buffers
        torch.testing.assert_close(similarity.score_all(a, b), expected)


@pytest.mark.usefixtures("tiny_cache")
@torch.no_grad()
def test_one_walk_serves_blocks_of_any_size():
    """The buffers of a large block are used for a small one and the other way round."""
    similarity = network()
    ready = similarity.frozen(some(1), some(1))
    for rows, columns in [(2, 2), (30, 40), (3, 1), (30, 40)]:
        a, b = some(rows), some(columns, seed=2)
        torch.testing.assert_close(ready.score_all(a, b), concatenated(similarity, a, b))


@torch.no_grad()
def test_inputs_need_not_be_contiguous_and_stay_what_they_are():
    similarity = network()
    wide = torch.randn(2 * DIMENSION, 12, generator=torch.Generator().manual_seed(3))
    before = wide.clone()
    a, b = wide.t()[:, ::2], wide.t()[::3, DIMENSION:]
    torch.testing.assert_close(similarity.score_all(a, b), concatenated(similarity, a, b))
    assert torch.equal(wide, before)


@torch.no_grad()
def test_nan_stays_with_its_own_pairs():
    similarity = network()
    a, b = some(9), some(8, seed=2)
    a[4, 1], b[2, 0] = torch.nan, torch.inf
    scores = similarity.score_all(a, b)
    spoilt = torch.zeros(9, 8, dtype=torch.bool)
    spoilt[4], spoilt[:, 2] = True, True
    assert torch.equal(scores.isfinite(), ~spoilt)


@settings(max_examples=200, deadline=None)
@given(rows=st.integers(0, 300), columns=st.integers(0, 300), most=st.integers(1, 2000))
def test_blocks_are_never_too_large_and_their_parts_about_equal(rows, columns, most):
    height, width = shape_of_blocks(rows, columns, most)
    assert 1 <= height * width <= most
    for count, part in [(rows, height), (columns, width)]:
        pieces = -(-count // part)
        assert pieces * part - count < max(1, pieces)  # the last one lacks less than one of each other


@pytest.mark.parametrize(
    ("rows", "columns", "most", "expected"),
    [
        (1000, 1000, 512, (16, 32)),
        (2, 1000, 512, (2, 250)),
        (1000, 2, 512, (250, 2)),
        (5, 6, 512, (5, 6)),
        (33, 33, 512, (17, 17)),
    ],
)
def test_the_shape_of_blocks(rows, columns, most, expected):
    height, width = shape_of_blocks(rows, columns, most)
    assert (height, width) == expected


def test_is_used_where_no_gradient_is_wanted_and_nowhere_else():
    similarity = network(dropout=0.5)
    a, b = some(3), some(4)

    def ready(network=similarity, a=a):
        return isinstance(network.frozen(a, b), PairBlocks)

    assert not ready()  # the parameters want one
    with torch.no_grad():
        assert ready()
        assert not ready(similarity.train())  # dropout draws for every pair
        assert ready(similarity.eval())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert not ready()
            assert similarity.score_all(a, b).dtype == torch.bfloat16
    similarity.requires_grad_(False)
    assert ready()
    assert not ready(a=a.clone().requires_grad_())
    assert ready(network(dropout=0.0).train().requires_grad_(False))  # no dropout, nothing to draw


@torch.no_grad()
def test_few_pairs_are_scored_the_plain_way(monkeypatch):
    similarity = network()
    monkeypatch.setattr(pair_blocks, "FEWEST_PAIRS", 12)
    assert similarity.frozen(some(3), some(3)) is similarity
    assert isinstance(similarity.frozen(some(3), some(4)), PairBlocks)


class Largest(TorchDispatchMode):
    """Notes the most numbers that any one tensor made inside has."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, torch.Tensor):
                self.numbers = max(self.numbers, value.untyped_storage().nbytes() // value.element_size())
        return result


@pytest.mark.usefixtures("tiny_cache")
@torch.no_grad()
def test_nothing_of_pairs_times_hidden_is_ever_made():
    similarity, a, b = network(), some(40), some(30, seed=2)
    with Largest() as largest:
        similarity.score_all(a, b)
    assert largest.numbers == 40 * 30  # the scores themselves


@torch.no_grad()
def test_a_walk_makes_the_weights_ready_once(monkeypatch):
    similarity, built = network(), []
    monkeypatch.setattr(
        "samekind.similarities.pairs_network.PairBlocks",
        lambda *given, **settings: built.append(1) or PairBlocks(*given, **settings),
    )
    a, b = some(20), some(30, seed=2)
    budget = 10 * similarity.pair_bytes(DIMENSION)
    assert len(list(blocks(similarity, a, b, memory_budget=budget))) > 30
    assert built == [1]
    torch.testing.assert_close(
        score_all(similarity, a, b, memory_budget=budget), concatenated(similarity, a, b)
    )


@torch.no_grad()
def test_sees_the_weights_of_each_call():
    similarity = network()
    a, b = some(3), some(4)
    before = similarity.score_all(a, b)
    similarity.last.bias += 1
    torch.testing.assert_close(similarity.score_all(a, b), before + 1)
