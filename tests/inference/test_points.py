"""Operating points read, and the sentence about too few trials."""

import math
import re
from dataclasses import replace

import pytest
import torch

from samekind.decisions import Decision
from samekind.errors import SettingError
from samekind.inference.points import operating_point, support, threshold_for
from samekind.measures import rates_at
from samekind.similarities import Cosine, Dot, Euclidean, SquaredEuclidean, score_all


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("far=0.001", {"name": "far", "rate": 0.001}),
        ("frr=1e-2", {"name": "frr", "rate": 0.01}),
        ("far=0", {"name": "far", "rate": 0.0}),
        ("threshold=-0.5", {"name": "threshold", "threshold": -0.5}),
        ("cost=0.01", {"name": "cost", "prior": 0.01, "miss_cost": 1.0, "false_accept_cost": 1.0}),
        ("cost=0.5:1:10", {"name": "cost", "prior": 0.5, "miss_cost": 1.0, "false_accept_cost": 10.0}),
    ],
)
def test_points_are_read(text, expected):
    result = operating_point(text)._asdict()
    assert {key: result[key] for key in expected} == expected


NONE = [
    "",
    "EER",
    "eer=1",
    "far",
    "far=",
    "far=x",
    "far=-0.1",
    "far=1.1",
    "far=nan",
    "frr=2",
    "far=0.1:2",
    "threshold",
    "threshold=inf",
    "threshold=x",
]
NO_COST = ["cost", "cost=0", "cost=1", "cost=0.5:1", "cost=0.5:0:1", "cost=0.5:1:inf", "cost=0.5:1:1:1"]


@pytest.mark.parametrize("text", [*NONE, *NO_COST])
def test_refuses_any_other_point_and_lists_the_known_ones(text):
    with pytest.raises(SettingError, match=r'^expected an operating point "eer", "far=0\.01"') as caught:
        operating_point(text)
    assert str(caught.value).endswith(f'got "{text}"')


def test_the_thresholds_of_a_known_case():
    scores = torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double)
    same = torch.tensor([True] * 3 + [False] * 4)
    result = {
        text: threshold_for(operating_point(text), scores, same, (2.0, -1.0))
        for text in ("eer", "far=0.25", "frr=0.4", "cost=0.5", "cost=0.1")
    }
    assert result == pytest.approx(
        {"eer": 0.7, "far=0.25": 0.4, "frr=0.4": 0.8, "cost=0.5": 0.5, "cost=0.1": (1 + math.log(9)) / 2},
        abs=1e-5,
    )


SIMILARITIES = [Cosine(), Dot(), Euclidean(), Euclidean(normalise=True), SquaredEuclidean()]


@pytest.mark.parametrize("point", ["eer", "far=0.01", "frr=0.01", "far=0", "frr=0"])
@pytest.mark.parametrize(
    "similarity", SIMILARITIES, ids=lambda similarity: f"{type(similarity).__name__} {similarity.chords}"
)
def test_the_pair_a_threshold_was_fitted_on_is_accepted_however_it_is_scored(similarity, point):
    """Pairs, a matrix, and blocks of other sizes differ in their last bits."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(60) // 6
    z = torch.randn(10, 100, generator=generator)[labels] + torch.randn(60, 100, generator=generator)
    one, other = torch.triu_indices(60, 60, 1)
    same = labels[one] == labels[other]
    ways = [
        similarity(z[one], z[other]),
        similarity.score_all(z, z)[one, other],
        similarity.score_all(z, z).T[one, other],
        *(score_all(similarity, z, z, memory_budget=budget)[one, other] for budget in (64, 300, 4000)),
    ]
    assert len({tuple(way.tolist()) for way in ways}) > 1
    for fitted in ways:
        threshold = threshold_for(operating_point(point), fitted, same, (1.0, 0.0))
        lowest = fitted.where(fitted >= threshold, math.inf).argmin()
        assert all(way[lowest] >= threshold for way in ways)


def test_false_accepts_stay_below_their_rate_where_scores_differ_by_rounding_alone():
    scores = 0.5 + torch.arange(1000, dtype=torch.double) * 1e-9
    same = torch.arange(1000) % 2 == 0
    for rate in (0.0, 0.1, 0.5, 1.0):
        threshold = threshold_for(operating_point(f"far={rate}"), scores, same, (1.0, 0.0))
        assert rates_at(scores, same, threshold)[0] <= rate


def decided(point, *, accepts=0.05, rejects=0.05, same=1000, different=1000, classes=50):
    return Decision(
        "similarity", 0.5, point, "made up", accepts, rejects, None, None, None, same, different, classes
    )


@pytest.mark.parametrize(
    "decision",
    [
        decided("eer"),
        decided("far=0.03"),
        decided("frr=0.03", different=10),  # nothing is promised about the other error
        decided("cost=0.5"),
        decided("far=0.001", same=0, different=0, classes=0),  # stored before trials were counted
    ],
)
def test_enough_trials_need_no_warning(decision):
    assert support(decision) is None


def test_fewer_than_thirty_errors_are_reported_with_the_trials_needed():
    sentence = support(decided("far=0.001", different=9000))
    assert sentence == (
        "false accepts of 0.001 among 9,000 different trials are about 9 errors; "
        "30 make the rate reliable, which takes 30,000"
    )
    assert "among 1,000 same trials" in support(decided("frr=0.01"))


def test_less_than_one_error_is_the_rule_of_three():
    sentence = support(decided("far=0.0001", different=3000))
    assert sentence == (
        "3,000 different trials cannot tell false accepts of 0.0001: "
        "with none among them the rate may still be 0.001 (rule of three)"
    )


def test_both_errors_count_at_the_equal_error_point():
    for point in ("eer", "cost=0.1"):
        sentence = support(decided(point, accepts=0.0, rejects=0.01))
        assert sentence.startswith("1,000 different trials cannot tell false accepts of 0")
        assert "; false rejects of 0.01 among 1,000 same trials are about 10 errors" in sentence


def test_few_classes_are_reported():
    assert support(decided("eer", classes=5)) == "the trials are of 5 classes; what others do is a guess"
    assert support(decided("eer", classes=1)) == "the trials are of 1 class; what others do is a guess"


def test_an_open_set_is_reported_in_items():
    sentence = support(decided("far=0.05", different=60, classes=1), open_set=True)
    assert sentence == (
        "false accepts of 0.05 among 60 unknown items are about 3 errors; "
        "30 make the rate reliable, which takes 600; "
        "the unknown items and the known items are of 1 class: how much classes differ cannot be told from "
        "it, so the false accepts and false rejects have no interval, and what others do is a guess"
    )


@pytest.mark.parametrize(
    ("alone", "told"),
    [
        ("false_accept", "the unknown items are of 1 class: .*, so the false accepts have no interval, and"),
        ("false_reject", "the known items are of 1 class: .*, so the false rejects have no interval, and"),
        (None, "the known or the unknown items are of 1 class; what others do is a guess"),  # of old
    ],
)
def test_names_the_side_of_an_open_set_that_has_one_class(alone, told):
    others = [name for name in ("false_accept", "false_reject") if name != alone]
    intervals = {f"{other}_interval": (0.01, 0.2) for other in others}
    decision = replace(decided("far=0.05", classes=1), **intervals)
    assert re.fullmatch(told + ".*", support(decision, open_set=True))
    assert support(decision) == "the trials are of 1 class; what others do is a guess"
    several = support(replace(decision, classes=2), open_set=True)
    assert several == "the known or the unknown items are of 2 classes; what others do is a guess"


@pytest.mark.parametrize(("error", "told"), [(None, False), (0.39, False), (0.4, True), (0.538, True)])
def test_a_score_near_chance_is_reported_first(error, told):
    """Items enough for a reliable rate are no help against a rate of a half."""
    decision = replace(decided("far=0.05", different=60), equal_error=error)
    sentence = support(decision, open_set=True)
    assert sentence.startswith("these scores hardly tell known from unknown: the equal error is ") == told
    assert (error == 0.538) == ("is 53.8%, that of a coin 50%; false accepts of 0.05 among" in sentence)


def test_one_error_is_one():
    assert "are about 1 error;" in support(decided("far=0.001"))
