"""Verification measures against scikit-learn, a loop anyone can check by eye, and their own laws."""

import doctest
import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, average_precision_score, roc_auc_score, roc_curve

from samekind.measures import (
    accuracy_at,
    area_under_curve,
    average_precision,
    detection_cost,
    detection_error_tradeoff,
    equal_error_and_area,
    equal_error_rate,
    error_rates,
    isotonic_calibration,
    log_likelihood_ratio_cost,
    logistic_calibration,
    minimum_detection_cost,
    minimum_log_likelihood_ratio_cost,
    rates_at,
    receiver_operating_characteristic,
    threshold_at,
    true_accepts_at,
    verification,
)

ANCHOR = (
    torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double),
    torch.tensor([True, True, True, False, False, False, False]),
)
INVERTED = (torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([True, True, False, False]))


def random_trials(trials=200, *, levels=40, seed=0):
    """Scores with many ties, the same kind a little higher."""
    generator = torch.Generator().manual_seed(seed)
    same = torch.rand(trials, generator=generator) < 0.3
    scores = torch.randint(levels, (trials,), generator=generator) + 8 * same
    return scores.double() / levels, same


def rates_by_hand(scores, same, threshold):
    """The definition, one trial at a time."""
    false_accepts = false_rejects = targets = 0
    for score, is_same in zip(scores.tolist(), same.tolist(), strict=True):
        targets += is_same
        false_accepts += score >= threshold and not is_same
        false_rejects += score < threshold and is_same
    return false_accepts / (len(scores) - targets), false_rejects / targets


def equal_error_by_hand(scores, same):
    best = None
    for threshold in sorted(set(scores.tolist()), reverse=True):
        accepts, rejects = rates_by_hand(scores, same, threshold)
        if best is None or abs(accepts - rejects) < best[0] - 1e-12:
            best = abs(accepts - rejects), (accepts + rejects) / 2, threshold
    return best[1:]


def area_by_hand(scores, same):
    """Every pair of one class against every other: a win counts 1, a tie a half."""
    wins = [
        1.0 if target > impostor else 0.5 if target == impostor else 0.0
        for target in scores[same].tolist()
        for impostor in scores[~same].tolist()
    ]
    return sum(wins) / len(wins)


@st.composite
def trials(draw):
    """Up to 24 trials of both kinds; few score levels, so ties are common."""
    pairs = draw(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=24))
    scores, same = torch.tensor([s for s, _ in pairs]).double(), torch.tensor([k for _, k in pairs])
    assume(same.any() and not same.all())
    return scores, same


# --- every threshold ------------------------------------------------------------------------------


def test_error_rates_are_the_roc_curve_of_scikit_learn():
    scores, same = random_trials()
    accepts, accepted, thresholds = roc_curve(same.numpy(), scores.numpy(), drop_intermediate=False)
    result = error_rates(scores, same)
    torch.testing.assert_close(result.thresholds, torch.from_numpy(thresholds))
    torch.testing.assert_close(result.false_accepts, torch.from_numpy(accepts))
    torch.testing.assert_close(result.false_rejects, 1 - torch.from_numpy(accepted))


@settings(max_examples=40)
@given(trials())
def test_error_rates_agree_with_the_definition(given_trials):
    scores, same = given_trials
    result = error_rates(scores, same)
    assert result.thresholds.tolist() == [math.inf, *sorted(set(scores.tolist()), reverse=True)]
    for threshold, accepts, rejects in zip(*(value.tolist() for value in result), strict=True):
        assert (accepts, rejects) == rates_by_hand(scores, same, threshold)


def test_the_ends_accept_nothing_and_everything():
    thresholds, accepts, rejects = error_rates(*ANCHOR)
    assert (thresholds[0], accepts[0], rejects[0]) == (math.inf, 0, 1)
    assert (thresholds[-1], accepts[-1], rejects[-1]) == (0.1, 1, 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.int64])
def test_any_number_type_gives_float64(dtype):
    scores, same = torch.tensor([3, 1, 2]).to(dtype), torch.tensor([True, False, True])
    assert {error_rate.dtype for error_rate in error_rates(scores, same)} == {torch.float64}


# --- the equal error rate -------------------------------------------------------------------------


def test_the_worked_example():
    """Positives .9 .8 .4 and negatives .7 .3 .2 .1: at .7 one of three is missed, one of four let in."""
    rate, threshold = equal_error_rate(*ANCHOR)
    assert rate == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert threshold == 0.7


@settings(max_examples=60)
@given(trials())
def test_equal_error_agrees_with_the_definition(given_trials):
    result, by_hand = equal_error_rate(*given_trials), equal_error_by_hand(*given_trials)
    assert result.rate == pytest.approx(by_hand[0])
    assert result.threshold == by_hand[1]


def test_equal_error_agrees_with_the_curve_of_scikit_learn():
    scores, same = random_trials(1000)
    accepts, accepted, _ = roc_curve(same.numpy(), scores.numpy(), drop_intermediate=False)
    nearest = abs(accepts - (1 - accepted)).argmin()
    expected = (accepts[nearest] + 1 - accepted[nearest]) / 2
    assert equal_error_rate(scores, same).rate == pytest.approx(expected)


@settings(max_examples=40)
@given(trials())
def test_equal_error_is_met_at_its_own_threshold(given_trials):
    rate, threshold = equal_error_rate(*given_trials)
    assert threshold in given_trials[0].tolist()
    assert rate == pytest.approx(sum(rates_at(*given_trials, threshold)) / 2)


def test_scores_apart_in_either_direction_and_all_equal():
    scores, same = INVERTED
    assert equal_error_rate(-scores, same).rate == 0
    assert equal_error_rate(scores, same).rate == 1
    assert equal_error_rate(torch.full((5,), 0.25), torch.arange(5) < 2) == (0.5, 0.25)


def test_of_two_thresholds_equally_near_the_stricter_is_taken():
    """same, different, same: at 3 the rates are 0 and 1/2, at 2 they are 1 and 1/2."""
    scores, same = torch.tensor([3.0, 2.0, 1.0]), torch.tensor([True, False, True])
    assert equal_error_rate(scores, same) == (0.25, 3.0)
    # This is why swapping the roles may change the rate: the stricter side is then the other one.
    assert equal_error_rate(-scores, ~same) == (0.75, -1.0)


@settings(max_examples=60)
@given(trials())
def test_swapping_the_roles_changes_nothing_unless_two_thresholds_are_equally_near(given_trials):
    scores, same = given_trials
    _, accepts, rejects = error_rates(scores, same)
    gaps = sorted((accepts - rejects).abs().tolist())
    assume(gaps[1] - gaps[0] > 1e-9)
    swapped = equal_error_rate(-scores, ~same)
    assert swapped.rate == pytest.approx(equal_error_rate(scores, same).rate)


@settings(max_examples=60)
@given(trials())
def test_the_interpolated_form_is_where_the_straight_lines_cross(given_trials):
    """Walked along the curve of scikit-learn, segment by segment."""
    scores, same = given_trials
    accepts, accepted, _ = roc_curve(same.numpy(), scores.numpy(), drop_intermediate=False)
    rejects = 1 - accepted
    for left in range(len(accepts) - 1):
        before, after = accepts[left] - rejects[left], accepts[left + 1] - rejects[left + 1]
        if before <= 0 < after:
            step = before / (before - after)
            expected = accepts[left] + step * (accepts[left + 1] - accepts[left])
    rate, threshold = equal_error_rate(scores, same, form="interpolated")
    assert rate == pytest.approx(expected)
    assert scores.min() <= threshold <= scores.max()
    # Here swapping the roles never changes anything.
    assert equal_error_rate(-scores, ~same, form="interpolated").rate == pytest.approx(rate)


def kaldi_by_hand(scores, same):
    """The loop of the toolkit."""
    targets, impostors = sorted(scores[same].tolist()), sorted(scores[~same].tolist())
    position = 0
    while position + 1 < len(targets):
        place = max(len(impostors) - 1 - len(impostors) * position // len(targets), 0)
        if impostors[place] < targets[position]:
            break
        position += 1
    return position / len(targets), targets[position]


@settings(max_examples=60)
@given(trials())
def test_the_form_of_kaldi_is_its_loop(given_trials):
    assert equal_error_rate(*given_trials, form="kaldi") == kaldi_by_hand(*given_trials)


def test_all_forms_agree_on_many_trials():
    scores, same = random_trials(20_000, levels=10_000)
    scores = scores + 0.25 * same
    rates = [equal_error_rate(scores, same, form=form).rate for form in ("nearest", "interpolated", "kaldi")]
    assert max(rates) - min(rates) < 1e-3


def test_the_forms_of_scores_apart_and_all_equal():
    scores, same = INVERTED
    for form in ("interpolated", "kaldi"):
        assert equal_error_rate(-scores, same, form=form).rate == 0
    assert equal_error_rate(scores, same, form="interpolated").rate == 1
    assert equal_error_rate(torch.full((5,), 0.25), torch.arange(5) < 2, form="interpolated") == (0.5, 0.25)


def test_refuses_an_unknown_form():
    with pytest.raises(ValueError, match=r"expected the form .* got 'median'"):
        equal_error_rate(*ANCHOR, form="median")


# --- the area under the curve ---------------------------------------------------------------------


@settings(max_examples=40)
@given(trials())
def test_area_agrees_with_the_definition_and_with_scikit_learn(given_trials):
    scores, same = given_trials
    area = area_under_curve(scores, same)
    assert area == pytest.approx(area_by_hand(scores, same))
    assert area == pytest.approx(roc_auc_score(same.numpy(), scores.numpy()))


def test_area_of_scores_apart_in_either_direction_and_all_equal():
    scores, same = INVERTED
    assert area_under_curve(-scores, same) == 1
    assert area_under_curve(scores, same) == 0
    assert area_under_curve(torch.zeros(5), torch.arange(5) < 2) == 0.5


@settings(max_examples=40)
@given(trials())
def test_area_is_mirrored_by_negation_and_kept_by_swapping_the_roles(given_trials):
    scores, same = given_trials
    area = area_under_curve(scores, same)
    assert area_under_curve(-scores, same) == pytest.approx(1 - area)
    assert area_under_curve(-scores, ~same) == pytest.approx(area)


@pytest.mark.parametrize("transform", [torch.exp, torch.atan, lambda x: x**3, lambda x: x / 8 - 5])
@settings(max_examples=20)
@given(given_trials=trials())
def test_only_the_order_of_scores_matters(transform, given_trials):
    scores, same = given_trials
    rate, threshold = equal_error_rate(scores, same)
    moved = equal_error_rate(transform(scores), same)
    assert moved.rate == rate
    assert moved.threshold == pytest.approx(transform(torch.tensor(threshold).double()).item())
    assert area_under_curve(transform(scores), same) == area_under_curve(scores, same)


@settings(max_examples=30)
@given(trials())
def test_both_from_one_sort(given_trials):
    both = equal_error_rate(*given_trials), area_under_curve(*given_trials)
    assert equal_error_and_area(*given_trials) == both


@settings(max_examples=30)
@given(trials(), st.integers(2, 4))
def test_every_trial_several_times_over_changes_nothing(given_trials, times):
    scores, same = (given_trial.repeat(times) for given_trial in given_trials)
    for measure in (equal_error_rate, area_under_curve, average_precision):
        assert measure(scores, same) == pytest.approx(measure(*given_trials))


@settings(max_examples=40)
@given(trials())
def test_average_precision_is_that_of_scikit_learn(given_trials):
    scores, same = given_trials
    expected = average_precision_score(same.numpy(), scores.numpy())
    assert average_precision(scores, same) == pytest.approx(expected)


def test_average_precision_of_scores_that_say_nothing_is_the_share_of_one_class():
    assert average_precision(torch.zeros(5), torch.arange(5) < 2) == 2 / 5


# --- one threshold --------------------------------------------------------------------------------


@settings(max_examples=40)
@given(trials(), st.integers(-15, 15))
def test_rates_and_accuracy_at_any_threshold(given_trials, doubled):
    scores, same = given_trials
    threshold = doubled / 2
    assert rates_at(scores, same, threshold) == rates_by_hand(scores, same, threshold)
    expected = accuracy_score(same.numpy(), (scores >= threshold).numpy())
    assert accuracy_at(scores, same, threshold) == pytest.approx(expected)


def test_infinite_thresholds_accept_nothing_and_everything():
    assert rates_at(*ANCHOR, math.inf) == (0, 1)
    assert rates_at(*ANCHOR, -math.inf) == (1, 0)
    assert accuracy_at(*ANCHOR, math.inf) == 4 / 7
    assert accuracy_at(*ANCHOR, -math.inf) == 3 / 7


def test_a_threshold_is_read_in_the_precision_of_the_scores():
    scores, same = torch.tensor([0.7, 0.1]), torch.tensor([True, False])
    assert scores[0].item() < 0.7  # float32 has no 0.7
    assert rates_at(scores, same, 0.7) == (0, 0)


@pytest.mark.parametrize("measure", [rates_at, accuracy_at])
def test_refuses_a_nan_threshold(measure):
    with pytest.raises(ValueError, match=r"expected a threshold .* got NaN"):
        measure(*ANCHOR, math.nan)


# --- a threshold for a wanted rate ----------------------------------------------------------------


@settings(max_examples=60)
@given(trials(), st.integers(0, 12))
def test_the_most_lenient_observed_threshold_is_found(given_trials, twelfths):
    scores, same = given_trials
    limit = twelfths / 12
    threshold = threshold_at(scores, same, false_accepts=limit)
    allowed = [value for value in set(scores.tolist()) if rates_by_hand(scores, same, value)[0] <= limit]
    if allowed:
        assert threshold == min(allowed)
    else:
        assert threshold == math.nextafter(scores.max().item(), math.inf)


def test_a_rate_that_is_met_exactly_is_allowed():
    """Each of 0.1, 0.2, ... is written as it is divided, with nothing lost on the way."""
    scores, same = torch.arange(11, 0, -1), torch.arange(11) == 0
    for accepts in range(11):
        assert threshold_at(scores, same, false_accepts=accepts / 10) == 11 - accepts


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_where_the_highest_score_accepts_too_many_nothing_is_accepted(dtype):
    scores, same = torch.tensor([0.7, 0.7, 0.2], dtype=dtype), torch.tensor([False, True, True])
    threshold = threshold_at(scores, same, false_accepts=0.5)
    assert not (scores >= threshold).any()
    assert rates_at(scores, same, threshold) == (0, 1)
    assert threshold == pytest.approx(0.7, rel=0.02)


@pytest.mark.parametrize("wanted", [-0.1, 1.1, math.nan])
def test_refuses_rates_outside_0_and_1(wanted):
    with pytest.raises(ValueError, match=f"expected a false-accept rate from 0 to 1, got {wanted}"):
        threshold_at(*ANCHOR, false_accepts=wanted)
    with pytest.raises(ValueError, match=f"expected a false-reject rate from 0 to 1, got {wanted}"):
        threshold_at(*ANCHOR, false_rejects=wanted)


@settings(max_examples=60)
@given(trials(), st.integers(0, 12))
def test_the_strictest_threshold_for_a_rate_of_false_rejects(given_trials, twelfths):
    scores, same = given_trials
    limit = twelfths / 12
    allowed = [value for value in set(scores.tolist()) if rates_by_hand(scores, same, value)[1] <= limit]
    assert threshold_at(scores, same, false_rejects=limit) == max(allowed)


@pytest.mark.parametrize("given_rates", [{}, {"false_accepts": 0.1, "false_rejects": 0.1}])
def test_a_threshold_is_for_one_of_the_two_rates(given_rates):
    with pytest.raises(ValueError, match="expected false_accepts or false_rejects, got"):
        threshold_at(*ANCHOR, **given_rates)


@settings(max_examples=40)
@given(trials(), st.integers(0, 12))
def test_true_accepts_are_those_at_the_threshold(given_trials, twelfths):
    scores, same = given_trials
    limit = twelfths / 12
    result = true_accepts_at(scores, same, false_accepts=limit)
    possible = [rates_by_hand(scores, same, value) for value in [math.inf, *scores.tolist()]]
    assert result == pytest.approx(max(1 - missed for accepts, missed in possible if accepts <= limit))


# --- input that cannot be measured, and much of it ------------------------------------------------

EVERY_MEASURE = [
    error_rates,
    equal_error_rate,
    area_under_curve,
    lambda scores, same: rates_at(scores, same, 0.5),
    lambda scores, same: accuracy_at(scores, same, 0.5),
    lambda scores, same: threshold_at(scores, same, false_accepts=0.5),
    lambda scores, same: threshold_at(scores, same, false_rejects=0.5),
    average_precision,
    equal_error_and_area,
    lambda scores, same: equal_error_rate(scores, same, form="kaldi"),
    lambda scores, same: true_accepts_at(scores, same, false_accepts=0.5),
    minimum_detection_cost,
    detection_cost,
    log_likelihood_ratio_cost,
    minimum_log_likelihood_ratio_cost,
    logistic_calibration,
    isotonic_calibration,
    receiver_operating_characteristic,
    detection_error_tradeoff,
]
BROKEN = {
    "expected trials of both kinds, got 2 same and 0 different": ([0.1, 0.2], [True, True]),
    "expected trials of both kinds, got 0 same and 2 different": ([0.1, 0.2], [False, False]),
    "expected finite scores, got 1 of 2": ([math.nan, 0.2], [True, False]),
    "expected finite scores, got 2 of 2": ([math.inf, -math.inf], [True, False]),
    r"shape \(trials,\), got \(3,\) and \(2,\)": ([0.1, 0.2, 0.3], [True, False]),
    r"shape \(trials,\), got \(1, 2\) and \(1, 2\)": ([[0.1, 0.2]], [[True, False]]),
    "expected a boolean same, got torch.int64": ([0.1, 0.2], [1, 0]),
}


@pytest.mark.parametrize("measure", EVERY_MEASURE)
def test_refuses_invalid_trials(measure):
    for message, (scores, same) in BROKEN.items():
        with pytest.raises(ValueError, match=message):
            measure(torch.tensor(scores), torch.tensor(same))


def test_a_million_trials_are_measured_as_a_few():
    """Without rounding in the sums: scores i, same when i is odd, so each target beats one more."""
    half = 500_000
    scores = torch.randperm(2 * half, generator=torch.Generator().manual_seed(0))
    same = scores % 2 == 1
    assert area_under_curve(scores, same) == (half + 1) / (2 * half)
    assert equal_error_rate(scores, same) == (0.5, half)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(verification)
    assert outcome.attempted > 0
    assert outcome.failed == 0
