"""Which structure for how many vectors."""

import doctest

import pytest

from samekind.index import structure_sizes as sizes
from samekind.index.structure_sizes import STRUCTURES, structure_for

PLENTY = 2**40


@pytest.mark.parametrize(
    ("count", "memory", "expected"),
    [
        (0, PLENTY, "flat"),
        (20_000, PLENTY, "flat"),
        (20_000, 0, "flat"),  # nothing to gain by codes
        (20_001, PLENTY, "hnsw"),
        (1_000_000, PLENTY, "hnsw"),
        (1_000_000, 700 * 10**6, "ivf"),
        (1_000_000, 300 * 10**6, "pq"),
        (1_500_001, PLENTY, "ivf"),
        (10**9, PLENTY, "ivf"),
        (10**9, 2**36, "pq"),
    ],
)
def test_is_chosen_by_size_and_memory(count, memory, expected):
    assert structure_for(count, 128, memory=memory) == expected


def test_the_example_holds():
    assert doctest.testmod(sizes).failed == 0


def test_kinds_are_ordered_by_memory():
    flat, graph, lists, codes = (sizes.bytes_of(name, 1000, 128) for name in STRUCTURES)
    assert flat == 1000 * 512
    assert codes < flat / 8
    assert flat < lists < graph < 2 * flat


def test_this_machine_has_some_memory(monkeypatch):
    assert sizes.memory_here() > 2**28
    monkeypatch.delattr("os.sysconf")  # as on Windows
    assert sizes.memory_here() == 2**32


def test_too_few_vectors_are_compared_one_by_one():
    assert [sizes.buildable(name, 0) for name in STRUCTURES] == ["flat"] * 4
    assert [sizes.buildable(name, 77) for name in STRUCTURES] == ["flat", "hnsw", "flat", "flat"]
    assert [sizes.buildable(name, 255) for name in STRUCTURES] == ["flat", "hnsw", "ivf", "flat"]
    assert [sizes.buildable(name, 256) for name in STRUCTURES] == list(STRUCTURES)


@pytest.mark.parametrize("count", [1, 78, 256, 5_000, 1_000_000])
def test_every_centre_has_vectors_to_be_fitted_to(count):
    lists = sizes.lists_for(count)
    assert lists >= 1
    assert lists == 1 or lists * 39 <= count
    for name in ("ivf", "pq"):
        assert lists <= sizes.sample_for(name, count) <= count
        assert 1 <= sizes.effort_for(name, lists) <= lists
    assert sizes.lists_for(1_000_000) == 4000


def test_codes_are_one_byte_for_four_numbers_rounded_up():
    assert [sizes.codes_of(dimension) for dimension in (1, 4, 5, 127, 128)] == [1, 1, 2, 32, 32]


def test_many_candidates_are_looked_for_in_more_lists():
    few, many = (
        sizes.effort_for("ivf", 4_000, candidates=candidates, count=10**6) for candidates in (20, 10_000)
    )
    assert few == sizes.effort_for("ivf", 4_000) == 125
    assert many == 1_280  # lists of 250 vectors: 320,000 of them for 10,000
    assert sizes.effort_for("ivf", 4_000, candidates=10**6, count=10**6) == 4_000
    assert sizes.effort_for("hnsw", 1, candidates=10_000, count=10**6) == sizes.HNSW_EFFORT


def test_codes_propose_more_than_is_wanted():
    assert sizes.candidates_for("pq", 1) >= 10 * 1
    assert sizes.candidates_for("pq", 100) == 1000
    assert all(10 < sizes.candidates_for(name, 10) < 20 for name in ("flat", "hnsw", "ivf"))
