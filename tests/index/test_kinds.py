"""Which structure for how many vectors."""

import doctest

import pytest

from samekind.index import kinds
from samekind.index.kinds import KINDS, kind_for

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
    assert kind_for(count, 128, memory=memory) == expected


def test_the_example_holds():
    assert doctest.testmod(kinds).failed == 0


def test_kinds_are_ordered_by_memory():
    flat, graph, lists, codes = (kinds.bytes_of(kind, 1000, 128) for kind in KINDS)
    assert flat == 1000 * 512
    assert codes < flat / 8
    assert flat < lists < graph < 2 * flat


def test_this_machine_has_some_memory(monkeypatch):
    assert kinds.memory_here() > 2**28
    monkeypatch.delattr("os.sysconf")  # as on Windows
    assert kinds.memory_here() == 2**32


def test_too_few_vectors_are_compared_one_by_one():
    assert [kinds.buildable(kind, 0) for kind in KINDS] == ["flat"] * 4
    assert [kinds.buildable(kind, 77) for kind in KINDS] == ["flat", "hnsw", "flat", "flat"]
    assert [kinds.buildable(kind, 255) for kind in KINDS] == ["flat", "hnsw", "ivf", "flat"]
    assert [kinds.buildable(kind, 256) for kind in KINDS] == list(KINDS)


@pytest.mark.parametrize("count", [1, 78, 256, 5_000, 1_000_000])
def test_every_centre_has_vectors_to_be_fitted_to(count):
    lists = kinds.lists_for(count)
    assert lists >= 1
    assert lists == 1 or lists * 39 <= count
    for kind in ("ivf", "pq"):
        assert lists <= kinds.sample_for(kind, count) <= count
        assert 1 <= kinds.effort_for(kind, lists) <= lists
    assert kinds.lists_for(1_000_000) == 4000


def test_codes_are_one_byte_for_four_numbers_rounded_up():
    assert [kinds.codes_of(dimension) for dimension in (1, 4, 5, 127, 128)] == [1, 1, 2, 32, 32]


def test_many_candidates_are_looked_for_in_more_lists():
    few, many = (
        kinds.effort_for("ivf", 4_000, candidates=candidates, count=10**6) for candidates in (20, 10_000)
    )
    assert few == kinds.effort_for("ivf", 4_000) == 125
    assert many == 1_280  # lists of 250 vectors: 320,000 of them for 10,000
    assert kinds.effort_for("ivf", 4_000, candidates=10**6, count=10**6) == 4_000
    assert kinds.effort_for("hnsw", 1, candidates=10_000, count=10**6) == kinds.HNSW_EFFORT


def test_codes_propose_more_than_is_wanted():
    assert kinds.candidates_for("pq", 1) >= 10 * 1
    assert kinds.candidates_for("pq", 100) == 1000
    assert all(10 < kinds.candidates_for(kind, 10) < 20 for kind in ("flat", "hnsw", "ivf"))
