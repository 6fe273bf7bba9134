"""All trials of a set against itertools; thresholds and calibrations against what is known of them."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from torch import nn

from samekind import similarities
from samekind.errors import SettingError
from samekind.inference import Trials, all_trials, calibrate, fit_decision
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace

# positives .9, .8, .4, negatives .7, .3, .2, .1: the rates are nearest at .7, a third and a quarter.
KNOWN = Trials(
    torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double),
    torch.tensor([True] * 3 + [False] * 4),
)


def a_space(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


def a_similarity(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    needed = {"PairsNetwork": {"dimension": 3, "hidden": 6}, "Mahalanobis": {"dimension": 3}}
    return kind(**needed.get(name, {}))


def gaussians(different, same, *, spread=1.0, count=4000, share=0.5):
    """Scores of both kinds around their own centres."""
    generator = torch.Generator().manual_seed(0)
    targets = int(count * share)
    scores = torch.randn(count, generator=generator, dtype=torch.double) * spread + different
    scores[:targets] += same - different
    return Trials(scores, torch.arange(count) < targets)


# --- trials -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_every_pair_is_there_once_the_earlier_item_first(name):
    space = a_space(a_similarity(name))
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 0, 2, 1, 1, 0])
    for kind in space.kinds:
        trials = all_trials(space, z, labels, kind=kind)
        pairs = list(itertools.combinations(range(7), 2))
        with torch.no_grad():
            scores = torch.cat([space.score(z[i : i + 1], z[j : j + 1], kind=kind) for i, j in pairs])
        torch.testing.assert_close(trials.scores, scores)
        assert trials.same.tolist() == [bool(labels[i] == labels[j]) for i, j in pairs]
        assert not trials.scores.requires_grad


def test_the_order_matters_to_a_pairs_network():
    """Else the test above could not tell the earlier first from the later first."""
    space = a_space(a_similarity("PairsNetwork"))
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.zeros(7, dtype=torch.int64)
    forwards, backwards = all_trials(space, z, labels).scores, all_trials(space, z.flip(0), labels).scores
    assert not torch.allclose(forwards.sort().values, backwards.sort().values)


@settings(max_examples=15)
@given(size=st.integers(0, 9), memory_budget=st.sampled_from([0, 1, 96, 300, 1000]), seed=st.integers(0, 99))
def test_in_little_memory_the_same_trials_come_in_some_order(size, memory_budget, seed):
    space = a_space(a_similarity("PairsNetwork"))
    generator = torch.Generator().manual_seed(seed)
    z, labels = torch.randn(size, 3, generator=generator), torch.randint(2, (size,), generator=generator)
    trials = all_trials(space, z, labels, memory_budget=memory_budget)
    whole = all_trials(space, z, labels)
    assert len(trials.scores) == len(trials.same) == size * (size - 1) // 2
    for same in (True, False):
        found, expected = (each.scores[each.same == same].sort().values for each in (trials, whole))
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_items_make_no_trial(size):
    trials = all_trials(a_space(Cosine()), torch.ones(size, 3), torch.zeros(size, dtype=torch.int64))
    assert trials.scores.shape == trials.same.shape == (0,)
    assert trials.same.dtype == torch.bool


def test_a_space_in_training_is_asked_at_rest_and_left_in_training():
    space = a_space(PairsNetwork(dimension=3, hidden=6, dropout=0.9))
    z, labels = torch.eye(3), torch.tensor([0, 0, 1])
    at_rest = all_trials(space, z, labels)
    assert torch.equal(all_trials(space.train(), z, labels).scores, at_rest.scores)
    assert all(module.training for module in space.modules())


# --- decisions --------------------------------------------------------------------------------------


def test_the_equal_error_point_of_a_known_case():
    decision = fit_decision(KNOWN, kind="cosine", description="seven")
    assert (decision.kind, decision.point) == ("cosine", "eer")
    assert decision.threshold == 0.7
    assert decision.false_accepts == pytest.approx(1 / 4)
    assert decision.false_rejects == pytest.approx(1 / 3)
    assert decision.trials == "seven: 3 same, 4 different"
    assert decision.calibration == calibrate(KNOWN)


@pytest.mark.parametrize(
    ("point", "threshold", "false_accepts", "false_rejects"),
    [
        ("far=0", 0.8, 0, 1 / 3),
        ("far=0.24", 0.8, 0, 1 / 3),
        ("far=0.25", 0.4, 1 / 4, 0),
        ("far=2.5e-1", 0.4, 1 / 4, 0),
        ("far=0.5", 0.3, 2 / 4, 0),
        ("far=1", 0.1, 1, 0),
    ],
)
def test_a_chosen_rate_of_false_accepts(point, threshold, false_accepts, false_rejects):
    decision = fit_decision(KNOWN, kind="similarity", point=point, description="seven")
    assert decision.threshold == threshold
    assert decision.false_accepts == pytest.approx(false_accepts)
    assert decision.false_rejects == pytest.approx(false_rejects)
    assert decision.point == point


@settings(max_examples=30)
@given(
    same=st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    different=st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    rate=st.integers(0, 100),
)
def test_the_rates_stored_are_those_the_decision_has(same, different, rate):
    """Counted one trial at a time, in float32, as scores come out of a network."""
    scores = torch.tensor([*same, *different]) / 7
    trials = Trials(scores, torch.tensor([True] * len(same) + [False] * len(different)))
    for point in ("eer", f"far={rate / 100}"):
        decision = fit_decision(trials, kind="similarity", point=point, description="made up")
        accepted = decision.accepts(scores).tolist()
        fooled = sum(accepted[len(same) :]) / len(different)
        missed = 1 - sum(accepted[: len(same)]) / len(same)
        assert decision.false_accepts == pytest.approx(fooled)
        assert decision.false_rejects == pytest.approx(missed)
        assert point == "eer" or fooled <= rate / 100
        assert math.isfinite(decision.threshold)


@pytest.mark.parametrize(
    "point",
    ["", "EER", "far", "far=", "far=x", "far=-0.1", "far=1.1", "far=nan", "frr=0.1", "0.1", "eer=0.1"],
)
def test_an_unknown_point_is_refused(point):
    with pytest.raises(SettingError, match=r'expected an operating point "eer" or "far=0\.01"') as caught:
        fit_decision(KNOWN, kind="similarity", point=point, description="seven")
    assert str(caught.value).endswith(f'got "{point}"')


@pytest.mark.parametrize("same", [True, False])
def test_trials_of_one_kind_say_nothing(same):
    with pytest.raises(ValueError, match="expected trials of both kinds"):
        fit_decision(Trials(torch.rand(4), torch.full((4,), same)), kind="similarity", description="one kind")


# --- calibration ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("different", "same", "spread"), [(-1, 1, 1), (0, 3, 2), (100, 130, 20), (0.5, 0.6, 0.1)]
)
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_overlapping_gaussians_give_back_their_likelihood_ratio(different, same, spread, share):
    """ln p(s | same) / p(s | different) is a line, and both kinds count the same, however many of each."""
    trials = gaussians(different, same, spread=spread, count=20_000, share=share)
    slope, offset = calibrate(trials)
    true_slope = (same - different) / spread**2
    assert slope == pytest.approx(true_slope, rel=0.06)
    middle = -offset / slope  # where both answers are equally likely
    assert middle == pytest.approx((same + different) / 2, abs=0.06 * spread)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_agrees_with_the_logistic_regression_of_scikit_learn(share):
    trials = gaussians(-0.5, 0.5, count=500, share=share)
    slope, offset = calibrate(trials)
    regression = LogisticRegression(C=1e6, class_weight="balanced", tol=1e-10)
    regression.fit(trials.scores[:, None].numpy(), trials.same.numpy())
    assert slope == pytest.approx(regression.coef_.item(), rel=2e-3)
    assert offset == pytest.approx(regression.intercept_.item(), abs=2e-3)


@pytest.mark.parametrize("gap", [1e-6, 0.1, 1.0, 1e6])
def test_separated_trials_give_a_steep_curve_and_not_an_infinite_one(gap):
    scores = torch.cat([torch.linspace(0, 1, 10), 1 + gap + torch.linspace(0, 1, 10)]).double()
    trials = Trials(scores, torch.arange(20) >= 10)
    slope, offset = calibrate(trials)
    assert math.isfinite(slope)
    assert math.isfinite(offset)
    assert slope > 0
    probability = (slope * scores + offset).sigmoid()
    assert (probability[:10] < 0.5).all()
    assert (probability[10:] > 0.5).all()


@settings(max_examples=30)
@given(
    same=st.lists(st.integers(-20, 20), min_size=1, max_size=8),
    different=st.lists(st.integers(-20, 20), min_size=1, max_size=8),
    size=st.sampled_from([1e-4, 1.0, 1e4]),
)
def test_the_curve_is_the_best_one(same, different, size):
    """Newton has arrived: moving slope or offset a little either way is no better."""
    scores = torch.tensor([*same, *different], dtype=torch.double) * size
    trials = Trials(scores, torch.tensor([True] * len(same) + [False] * len(different)))
    slope, offset = calibrate(trials)
    spread = max(float(scores.std()), 1e-12)
    centre = float(scores.mean())

    def cost(steepness, height):
        """The mean surprise of both kinds and the ridge, for the curve over standardised scores."""
        logits = steepness * (scores - centre) / spread + height
        surprise = nn.functional.softplus(torch.where(trials.same, -logits, logits))
        halves = surprise[trials.same].mean() / 2 + surprise[~trials.same].mean() / 2
        return float(halves + 0.5e-4 * (steepness**2 + height**2))

    steepness, height = slope * spread, offset + slope * centre
    best = cost(steepness, height)
    for move in (-1e-2, 1e-2):
        assert best <= cost(steepness + move, height) + 1e-12
        assert best <= cost(steepness, height + move) + 1e-12


def test_scores_that_say_nothing_give_even_odds():
    slope, offset = calibrate(Trials(torch.full((10,), 0.3), torch.arange(10) < 3))
    assert slope == pytest.approx(0, abs=1e-6)
    assert slope * 0.3 + offset == pytest.approx(0, abs=1e-6)


def test_a_score_that_points_the_wrong_way_gets_a_falling_curve():
    trials = gaussians(1, -1)
    assert calibrate(trials)[0] < 0
