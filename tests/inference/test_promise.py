"""A promise holds if new trials do not contradict it."""

import math
from dataclasses import replace

import pytest
import torch

from samekind.data import clusters
from samekind.decisions import Decision
from samekind.inference import check_promise, fit_decision, fit_open_set
from samekind.inference.known_classes import divided
from samekind.inference.open_set import best_scores
from samekind.inference.promise import Promise, PromisedRate, check_open_set
from samekind.inference.trials import Trials
from samekind.measures import Interval, bootstrap_trials
from samekind.prototypes import SupportMeans, class_means
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


def of_classes(classes=12, items=6, *, shift=0.0, seed=0):
    """All pairs of some items; ``shift`` moves the scores of different pairs up, as another camera might."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(classes, dtype=torch.int32).repeat_interleave(items)
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    first, second = labels[one], labels[other]
    same = first == second
    scores = torch.randn(len(one), generator=generator) + torch.where(same, 3.0, shift)
    return Trials(scores, same, first, second)


def test_trials_like_those_of_the_fit_keep_it_and_moved_ones_do_not():
    decision = fit_decision(of_classes(), kind="similarity", point="far=0.05", description="then")
    alike = check_promise(decision, of_classes(seed=1))
    assert not alike.broken
    assert alike.false_accepts.promised == 0.05
    assert alike.false_rejects.promised == decision.false_rejects
    moved = check_promise(decision, of_classes(shift=1.0, seed=1))
    assert moved.broken
    assert moved.false_accepts.broken
    assert not moved.false_rejects.broken


def test_the_intervals_are_those_over_classes():
    decision = fit_decision(of_classes(), kind="similarity", description="then")
    new = of_classes(seed=2)
    expected = bootstrap_trials(*new, statistics=("FAR", "FRR"), threshold=decision.threshold)
    result = check_promise(decision, new)
    assert result.false_accepts.measured == expected["FAR"]
    assert result.false_rejects.measured == expected["FRR"]


def test_two_classes_leave_a_promise_undecided():
    new = of_classes(classes=2)
    result = check_promise(Decision("similarity", 1.5, "eer", "then", 0.02, 0.5), new)
    fooled = float((new.scores[~new.same] >= 1.5).double().mean())
    assert fooled > 0.04
    assert result.false_accepts.measured == (pytest.approx(fooled), 0, 1)
    assert result.false_accepts.verdict == "cannot be told, fewer than 3 classes"
    assert result.false_rejects.measured.mean < result.false_rejects.promised
    assert result.false_rejects.verdict == "cannot be told, fewer than 3 classes"
    assert not result.false_rejects.holds


def test_a_promise_from_two_classes_holds_if_many_classes_confirm_it():
    decision = fit_decision(of_classes(classes=2), kind="similarity", point="far=0.05", description="then")
    result = check_promise(decision, of_classes(shift=-2.0))
    assert (result.false_accepts.upper, result.false_accepts.verdict) == (1, "holds")


def test_a_promise_from_two_classes_is_not_taken_as_exact():
    decision = fit_decision(of_classes(classes=2), kind="similarity", point="far=0.05", description="then")
    result = check_promise(decision, of_classes(shift=2.0))
    assert (result.false_accepts.upper, result.false_rejects.upper) == (1, 1)
    assert result.false_accepts.verdict == "cannot be told, fewer than 3 classes"
    assert check_promise(replace(decision, classes=0), of_classes(shift=2.0)).false_accepts.broken


def test_a_promised_rate_of_false_rejects_is_the_promise():
    result = check_promise(Decision("similarity", 1.5, "frr=0.25", "then", 0.1, 0.2), of_classes())
    assert (result.false_accepts.promised, result.false_rejects.promised) == (0.1, 0.25)


@pytest.mark.parametrize(
    ("promised", "broken"), [(0.0089, True), (0.009, False), (0.012, False), (0.018, False), (0.5, False)]
)
def test_inside_or_better_is_not_broken(promised, broken):
    assert PromisedRate(promised, Interval(0.013, 0.009, 0.018)).broken is broken


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (0.0, "holds"),
        (0.01, "holds"),
        (0.0149, "holds"),
        (0.0151, "cannot be told, the interval is wide"),
        (0.0197, "cannot be told, the interval is wide"),
        (0.0201, "does not hold"),
        (1.0, "does not hold"),
    ],
)
def test_a_rising_rate_holds_then_is_undecided_then_is_broken(measured, verdict):
    """From half the odds to twice the odds is what these new trials allow."""
    low, high = (measured / (measured + factor * (1 - measured)) for factor in (2, 0.5))
    result = PromisedRate(0.01, Interval(measured, low, high))
    assert result.verdict == verdict
    assert (result.holds, result.broken) == (verdict == "holds", verdict == "does not hold")
    promise = Promise(result, PromisedRate(0.01, Interval(0.01, 0.005, 0.02)))
    assert (promise.holds, promise.broken) == (result.holds, result.broken)


def test_a_small_difference_beyond_narrow_intervals_breaks_a_promise():
    assert PromisedRate(0.01, Interval(0.011, 0.0105, 0.0115)).verdict == "does not hold"


def test_twice_the_rate_does_not_hold():
    """Rates of one test by two kinds of score: nearly the same numbers, so the same word."""
    one = PromisedRate(0.1636, Interval(0.3649, 0.1777, 0.6044), 0.3565)
    other = PromisedRate(0.1576, Interval(0.36, 0.1767, 0.5959), 0.35)
    assert one.verdict == other.verdict == "cannot be told, the interval is wide"


def test_a_wide_interval_leaves_a_promise_undecided():
    wide = PromisedRate(0.0147, Interval(0.29, 0.0136, 0.92))
    assert not wide.broken
    assert wide.verdict == "cannot be told, the interval is wide"
    assert PromisedRate(0.1, Interval(0.14, 0.0136, 0.92)).verdict == "holds"


@pytest.mark.parametrize(
    ("promised", "measured", "holds"),
    [(0.54, 0.93, False), (0.54, 0.63, True), (0.25, 0.33, True), (0.25, 0.34, False), (0.9, 1.0, False)],
)
def test_a_high_promise_does_not_hold_for_every_rate(promised, measured, holds):
    wide = PromisedRate(promised, Interval(measured, 0.2, 1.0))
    assert wide.verdict == ("holds" if holds else "cannot be told, the interval is wide")


@pytest.mark.parametrize("measured", [0.0, 1.0])
def test_a_promise_at_either_end_has_a_verdict(measured):
    narrow = Interval(measured, 0.99 * measured, 0.01 + 0.99 * measured)
    assert PromisedRate(1.0, narrow).verdict == "holds"
    assert (PromisedRate(0.0, narrow).verdict == "holds") is (measured == 0)


def test_the_sentence_says_it_all():
    promise = Promise(
        PromisedRate(0.01, Interval(0.013, 0.009, 0.018)), PromisedRate(0.0005, Interval(0.2, 0.15, 0.25))
    )
    assert promise.sentence == (
        "promised 1.00% false accepts, measured 1.30% (0.90 to 1.80): holds; "
        "promised 0.05% false rejects, measured 20.00% (15.00 to 25.00): does not hold"
    )
    assert not promise.holds
    assert promise.broken
    nothing = PromisedRate(0.0, Interval(0.0, 0.0, 0.00001))
    assert (
        "promised 0.00% false accepts, measured 0.00% (0.00 to 0.001)" in Promise(nothing, nothing).sentence
    )


# --- the promise was measured too --------------------------------------------------------------------


def odds(rate):
    return math.log(rate / (1 - rate))


@pytest.mark.parametrize(("measured", "broken"), [(0.012, False), (0.027, False), (0.031, True), (0.3, True)])
def test_both_intervals_count_by_their_squares(measured, broken):
    """Three times the odds would be too many for twice on one side and twice on the other."""
    upper, low = (1 / (1 + math.exp(-odds(rate) - step)) for rate, step in ((0.01, 0.8), (measured, -0.7)))
    reach = math.sqrt(0.8**2 + 0.7**2)
    assert (odds(measured) - odds(0.01) > reach) is broken
    assert PromisedRate(0.01, Interval(measured, low, 0.9), upper).broken is broken


def test_a_promise_of_nothing_reaches_to_the_end_of_its_interval():
    low_enough, too_high = Interval(0.02, 0.009, 0.05), Interval(0.02, 0.011, 0.05)
    assert not PromisedRate(0.0, low_enough, 0.01).broken
    assert PromisedRate(0.0, too_high, 0.01).broken
    assert PromisedRate(0.0, low_enough).broken
    assert PromisedRate(0.0, Interval(0.0, 0.0, 0.05)).holds


def test_a_rate_of_1_counts_by_its_lower_end():
    assert PromisedRate(0.5, Interval(1.0, 0.9, 1.0), 0.8).broken
    assert not PromisedRate(0.5, Interval(1.0, 0.75, 1.0), 0.8).broken


def test_a_target_rate_has_the_uncertainty_of_the_fitted_one():
    stored = {"false_accept_interval": (0.004, 0.016), "false_reject_interval": (0.1, 0.4)}
    result = check_promise(
        Decision("similarity", 1.5, "far=0.01", "then", 0.008, 0.2, **stored), of_classes()
    )
    factor = odds(0.016) - odds(0.008)
    assert odds(result.false_accepts.upper) == pytest.approx(odds(0.01) + factor)
    assert result.false_rejects.upper == 0.4
    assert "promised 20.00% false rejects (up to 40.00), measured" in result.sentence
    unseen = {"false_accept_interval": (0.0, 0.03), "false_reject_interval": None}
    result = check_promise(Decision("similarity", 1.5, "far=0.01", "then", 0.0, 0.2, **unseen), of_classes())
    assert (result.false_accepts.upper, result.false_rejects.upper) == (0.03, None)


def of_a_world(classes, generator, *, shift=0.0):
    """Trials of classes that differ in how easily they are confused, and in how alike their items are."""
    labels = torch.arange(classes).repeat_interleave(5)
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    first, second = labels[one], labels[other]
    same = first == second
    near, far = 0.5 * torch.randn(2, classes, generator=generator)
    scores = torch.randn(len(one), generator=generator)
    scores += torch.where(same, 3.0 + near[first], shift + far[first] + far[second])
    return Trials(scores, same, first, second)


def alarms(checks, classes, *, point, shift=0.0):
    """In how many checks the rates of accepts and of rejects were said not to hold."""
    generator = torch.Generator().manual_seed(3)
    result = []
    for seed in range(checks):
        then, now = of_a_world(classes[0], generator), of_a_world(classes[1], generator, shift=shift)
        decision = fit_decision(then, kind="similarity", point=point, description="then")
        result.append(check_promise(decision, now, seed=seed))
    return [sum(value[place].broken for value in result) / checks for place in (0, 1)]


def test_trials_like_those_of_the_fit_seldom_break_a_promise():
    assert max(alarms(40, (20, 20), point="far=0.01")) <= 0.2


@pytest.mark.parametrize("classes", [(2, 2), (2, 10), (10, 2)])
def test_two_classes_then_or_now_break_no_promise(classes):
    assert alarms(10, classes, point="eer") == [0, 0]


def test_shifted_trials_nearly_always_break_a_promise():
    accepts, rejects = alarms(10, (20, 20), point="far=0.01", shift=1.5)
    assert accepts >= 0.9
    assert rejects <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("classes", [(10, 10), (10, 20), (20, 20), (20, 60)])
@pytest.mark.parametrize("point", ["eer", "far=0.01"])
def test_of_a_hundred_checks_about_five_at_most_are_false_alarms(classes, point):
    assert max(alarms(200, classes, point=point)) <= 0.08


# --- none of these ------------------------------------------------------------------------------------


def of_four_known_classes(items):
    """A space that knows the first four of the classes of the items, by their means."""
    space = MetricSpace(torch.nn.Identity(), Euclidean(), SupportMeans(dimension=3)).eval()
    means, _ = class_means(items.inputs, items.labels, len(items.classes))
    space.prototypes.assign(list(items.classes[:4]), means[:4, None])
    return space


def test_an_open_set_threshold_is_compared_with_other_items():
    then, now = (clusters(classes=8, items=20, dimension=3, spread=value) for value in (0.5, 2.5))
    space = of_four_known_classes(then)
    assert check_open_set(space, *divided(space, then)) is None
    space.open_set = fit_open_set(space, *divided(space, then), kind="similarity", point="frr=0.1")
    alike = check_open_set(space, *divided(space, then))
    assert alike.false_rejects.promised == 0.1
    assert alike.false_rejects.measured.mean == space.open_set.false_rejects
    assert alike.false_accepts.measured[1:] == space.open_set.false_accept_interval
    assert alike.holds
    of_one = check_open_set(space, *divided(space, then.only(then.classes[:5])))
    assert of_one.false_rejects == alike.false_rejects
    assert of_one.false_accepts.measured[1:] == (0, 1)
    known, unknown = divided(space, now)
    moved = check_open_set(space, known, unknown)
    refused = int((best_scores(space, known, kind=space.open_set.kind) < space.open_set.threshold).sum())
    assert moved.false_rejects.measured.mean == pytest.approx(refused / len(known))
    assert moved.false_rejects.broken


def test_one_unknown_class_then_or_now_breaks_no_promise():
    """Before, its items were counted as if each were of a class of its own, and 100 of them broke it."""
    items = clusters(classes=24, items=100, dimension=3, spread=0.5)
    space = of_four_known_classes(items)
    known, unknown = divided(space, items)
    near = replace(unknown, inputs=known.inputs.repeat(5, 1))  # strangers that look like the known
    one, several = near.only(near.classes[4:5]), near.only(near.classes[4:])
    space.open_set = fit_open_set(space, known, unknown, kind="similarity", point="far=0.05")
    assert check_open_set(space, known, several).false_accepts.broken
    now = check_open_set(space, known, one).false_accepts
    assert now.measured.mean > 0.2
    assert now.verdict == "cannot be told, fewer than 3 classes"
    space.open_set = fit_open_set(space, known, unknown.only(unknown.classes[4:5]), kind="similarity")
    then = check_open_set(space, known, several).false_accepts
    assert (then.upper, then.verdict) == (1, "cannot be told, fewer than 3 classes")
