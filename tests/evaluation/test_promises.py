"""Promises: each decision held against other trials, as numbers and as a sentence."""

import json
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.data.trial_lists import TrialList
from samekind.evaluation import listed_promises, promise_row, promises
from samekind.evaluation import promises as asked
from samekind.inference import all_trials, settle
from samekind.inference.promise import check_promise
from samekind.measures import rates_at
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

FITTED = clusters(classes=5, items=10, dimension=3, spread=0.6)
ALIKE = clusters(classes=5, items=10, dimension=3, spread=0.6)
HARDER = clusters(classes=5, items=10, dimension=3, spread=3.0, seed=1)


@pytest.fixture
def space():
    built = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=3)).eval()
    settle(built, FITTED, FITTED)
    return built


def test_every_decision_is_checked_on_every_set(space):
    rows = promises(space, {"alike": ALIKE, "harder": HARDER}, seed=3)
    assert [row[:2] for row in rows] == [
        (name, kind) for name in ("alike", "harder") for kind in ("similarity", "cosine")
    ]
    for row in rows:
        items = ALIKE if row.items == "alike" else HARDER
        trials = all_trials(space, items.inputs, items.labels, kind=row.kind)
        decision = space.decisions[row.kind]
        expected = check_promise(decision, trials, seed=3)
        assert (row.holds, row.sentence, row.point) == (expected.holds, expected.sentence, "eer")
        accepts, rejects = rates_at(trials.scores, trials.same, decision.threshold)
        assert row.false_accepts[:2] == (decision.false_accepts, accepts)
        assert row.false_rejects[:2] == (decision.false_rejects, rejects)


def test_the_items_it_was_fitted_on_hold_and_much_harder_ones_do_not(space):
    assert all(row.holds for row in promises(space, {"alike": ALIKE}))
    harder = {row.kind: row for row in promises(space, {"harder": HARDER})}
    assert not harder["similarity"].holds
    assert "does not hold" in harder["similarity"].sentence


def test_they_are_json(space):
    row = promises(space, {"alike": ALIKE})[0]
    stored = json.loads(json.dumps(row.as_json()))
    assert stored["false_accepts"] == row.false_accepts._asdict()
    assert stored["false_accepts"].keys() == {"promised", "measured", "low", "high", "verdict"}
    assert (stored["holds"], stored["broken"]) == (row.holds, row.broken) == (True, False)


def test_too_few_classes_are_undecided(space):
    two = ALIKE.only(ALIKE.classes[:2])
    [result, *_] = (row.as_json() for row in promises(space, {"two classes": two}))
    assert (result["holds"], result["broken"]) == (False, False)
    assert "cannot be told, fewer than 3 classes" in result["sentence"]
    [harder, *_] = (row.as_json() for row in promises(space, {"harder": HARDER}))
    assert (harder["holds"], harder["broken"]) == (False, True)


def test_pairs_of_one_group_break_and_keep_nothing(space):
    groups = torch.arange(len(ALIKE)) // 2
    row = promises(space, {"alike": replace(ALIKE, groups=groups)})[0]
    trials = all_trials(space, ALIKE.inputs, ALIKE.labels, groups=groups)
    accepts, rejects = rates_at(trials.scores, trials.same, space.decisions["similarity"].threshold)
    assert (row.false_accepts.measured, row.false_rejects.measured) == (accepts, rejects)
    assert row != promises(space, {"alike": ALIKE})[0]


def test_a_space_without_decisions_promised_nothing(space):
    space.decisions.clear()
    assert promises(space, {"alike": ALIKE}) == []


def test_of_very_many_items_a_random_part_is_asked(space, monkeypatch):
    import importlib

    monkeypatch.setattr(importlib.import_module("samekind.evaluation.promises"), "MOST_ITEMS", 20)
    few = asked(space, {"alike": ALIKE})
    assert len(few) == 2
    assert few == asked(space, {"alike": ALIKE})
    whole = all_trials(space, ALIKE.inputs, ALIKE.labels)
    assert few[0] != promise_row(space.decisions["similarity"], whole, name="alike")


def test_decisions_are_checked_on_a_list(space):
    trials = all_trials(space, ALIKE.inputs, ALIKE.labels)
    first, second = torch.triu_indices(50, 50, offset=1)
    same = ALIKE.labels[first] == ALIKE.labels[second]
    sets = tuple((i,) for i in range(50))
    listed = TrialList(same, first, second, sets, tuple(map(str, range(50))), ALIKE.labels)
    result = listed_promises(space, listed, ALIKE.inputs, name="list")[0]
    expected = promise_row(space.decisions["similarity"], trials, name="list")
    assert result.false_accepts[:4] == pytest.approx(expected.false_accepts[:4], abs=1e-3)


def test_a_threshold_for_none_of_these_is_asked_where_both_kinds_of_item_are():
    mixed = clusters(classes=6, items=10, dimension=3, spread=0.6)
    inside, outside = (
        mixed.take(value.nonzero().flatten()) for value in (mixed.labels < 3, mixed.labels > 2)
    )
    built = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=3)).eval()
    settle(built, inside, mixed)
    assert built.open_set is not None
    built.decisions.clear()
    [alone] = promises(built, {"mixed": mixed})
    assert alone[:3] == ("mixed", "open set", "eer")
    assert alone.false_accepts[:2] == (built.open_set.false_accepts, built.open_set.false_accepts)
    [together] = promises(built, {"seen": inside, "unseen": outside})
    assert together.items == "seen, unseen"
    assert together[1:] == alone[1:]
    assert promises(built, {"seen": inside}) == promises(built, {"unseen": outside}) == []
    assert [row.items for row in promises(built, {"mixed": mixed, "unseen": outside})] == ["mixed"]


def test_the_sentence_says_if_the_threshold_was_fitted_on_other_pairs(space):
    """It was fitted on all pairs, and is held against those of two groups."""
    grouped = replace(ALIKE, groups=torch.arange(len(ALIKE)) // 2)
    words = "it was not fitted with the own group left out, and is checked on pairs without it"
    assert all(row.sentence.endswith(f"; {words}") for row in promises(space, {"alike": grouped}))
    one_each = replace(ALIKE, groups=ALIKE.labels)
    assert not any("own group" in row.sentence for row in promises(space, {"alike": one_each}))
