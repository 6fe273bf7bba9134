"""Two spaces on the same items: the values of each, paired."""

import dataclasses

import pytest
import torch

from samekind.data import clusters
from samekind.encoders import MLP
from samekind.evaluation import against, evaluate
from samekind.inference import settle
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

SEEN = clusters(classes=4, items=12, dimension=4, spread=0.8)
UNSEEN = clusters(classes=7, items=12, dimension=4, spread=0.8, seed=1).only(["4", "5", "6"])
SETS = {"seen": SEEN, "unseen": UNSEEN}


def a_space(seed, similarity=None):
    torch.manual_seed(seed)
    similarity = similarity or PairsNetwork(dimension=5, hidden=8)
    space = MetricSpace(MLP(inputs=4, dimension=5, hidden=[8]), similarity, SupportMeans(dimension=5))
    settle(space, SEEN, SEEN)
    return space


@pytest.fixture(scope="module")
def rows(few_draws):
    return against(a_space(0), a_space(1), SETS, tasks=5, measures="all", seed=3)


def test_the_values_are_those_of_two_evaluations(rows):
    first, second = (
        {row[:4]: row.value for row in evaluate(a_space(seed), SETS, tasks=5, measures="all", seed=3)}
        for seed in (0, 1)
    )
    assert {row.question for row in rows} == {
        "classification",
        "verification",
        "retrieval",
        "few-shot",
        "clustering",
    }
    for row in rows:
        assert row.first == pytest.approx(first[row[:4]], abs=1e-6)
        assert row.second == pytest.approx(second[row[:4]], abs=1e-6)
        assert row.difference == row.first - row.second


def test_every_difference_has_an_interval_and_a_p_value_that_agree(rows):
    units = {
        "classification": "items",
        "verification": "classes",
        "retrieval": "queries",
        "few-shot": "episodes",
        "clustering": "items",
    }
    for row in rows:
        if row.low is None:
            assert row.difference == 0
            continue
        assert row.low <= row.difference <= row.high
        assert row.unit == ("classes" if row.measure.endswith("by class") else units[row.question])
        assert (row.p_value < 0.05) == (not row.low <= 0 <= row.high)


def test_a_space_against_itself_is_no_better():
    rows = against(a_space(0), a_space(0), SETS, tasks=5)
    assert rows
    assert all(row.difference == 0 and row.low is None and row.p_value in (None, 1.0) for row in rows)


def test_the_other_way_round_is_the_opposite(rows):
    turned = {row[:4]: row for row in against(a_space(1), a_space(0), SETS, tasks=5, measures="all", seed=3)}
    assert len(turned) == len(rows)
    for one in rows:
        other = turned[one[:4]]  # each begins with the kinds of score that its own first space chose
        assert one.difference == pytest.approx(-other.difference)
        if one.low is not None:
            assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=0.02)


def test_only_what_both_can_answer_is_compared():
    """The order of the pairs must not depend on the blocks of either similarity."""
    rows = against(a_space(0), a_space(1, Cosine()), SETS, tasks=5)
    assert {row.kind for row in rows if row.question == "verification"} == {"similarity"}
    expected = {row[:4]: row.value for row in evaluate(a_space(1, Cosine()), SETS, tasks=5)}
    assert all(row.second == pytest.approx(expected[row[:4]], abs=1e-6) for row in rows)


def test_of_very_many_items_the_pairs_of_a_part_are_compared(monkeypatch):
    import importlib

    monkeypatch.setattr(importlib.import_module("samekind.evaluation.against"), "MOST_ITEMS", 20)
    few = against(a_space(0), a_space(1), {"seen": SEEN}, tasks=5)
    assert few == against(a_space(0), a_space(1), {"seen": SEEN}, tasks=5)
    monkeypatch.undo()
    whole = against(a_space(0), a_space(1), {"seen": SEEN}, tasks=5)
    for one, other in zip(few, whole, strict=True):
        assert (one == other) == (one.question != "verification")


def test_items_with_groups_are_compared_across_them_as_in_an_evaluation():
    grouped = {"seen": dataclasses.replace(SEEN, groups=torch.arange(len(SEEN)) // 2)}
    rows = against(a_space(0), a_space(1), grouped, tasks=5, seed=3)
    first = {row[:4]: row.value for row in evaluate(a_space(0), grouped, tasks=5, seed=3)}
    for row in rows:
        assert row.first == pytest.approx(first[row[:4]], abs=1e-6)
    plain = {row[:4]: row.value for row in evaluate(a_space(0), {"seen": SEEN}, tasks=5, seed=3)}
    changed = {question for question, *_ in (key for key in plain if plain[key] != first[key])}
    assert changed == {"verification", "retrieval", "few-shot"}
