"""Intervals of verification: against a loop over replicates, and the promise that 95 % hold."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from samekind.measures import (
    area_under_curve,
    bootstrap_trials,
    equal_error_rate,
    paired_bootstrap,
    proportion_interval,
    rates_at,
)
from samekind.measures.resampling import class_weights

EVERYTHING = ("EER", "AUC", "FAR", "FRR", "accuracy", "minDCF", "strict minDCF", "Cllr")


def trials_of(classes, items, *, effect, apart, generator, pair_effect=0.0):
    """Scores of all pairs of items: effects of both classes, of both items, and of the pair alone."""
    labels = torch.arange(classes).repeat_interleave(items)
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    first, second = labels[one], labels[other]
    same = first == second
    near, far, value = (torch.randn(size, generator=generator) for size in (classes, classes, len(labels)))
    both = torch.randn(classes, classes, generator=generator).triu(1) * pair_effect
    scores = 0.5 * (value[one] + value[other]) + 0.7 * torch.randn(len(one), generator=generator)
    scores = scores + torch.where(
        same, apart + effect * near[first], effect * (far[first] + far[second]) + both[first, second]
    )
    return scores, same, first, second


def few_trials(seed=0, classes=4, items=3):
    built = trials_of(classes, items, effect=0.4, apart=1.5, generator=torch.Generator().manual_seed(seed))
    return (built[0] * 4).round() / 4, *built[1:]  # with ties


def resampled(scores, same, first, second, weights):
    """Trials repeated as often as their classes were drawn: the definition, one trial at a time."""
    often = [
        int(weights[a]) if a == b else int(weights[a] * weights[b])
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    often = torch.tensor(often)
    return scores.repeat_interleave(often), same.repeat_interleave(often)


def measured(name, scores, same, threshold):
    accepts, rejects = rates_at(scores, same, threshold)
    match name:
        case "EER":
            return equal_error_rate(scores, same).rate
        case "AUC":
            return area_under_curve(scores, same)
        case "FAR":
            return accepts
        case "FRR":
            return rejects
        case "accuracy":
            return float(((scores >= threshold) == same).double().mean())
        case "minDCF" | "strict minDCF":
            odds = 99 if name == "minDCF" else 999
            rates = [rates_at(scores, same, cut) for cut in (math.inf, *scores.tolist())]
            return min(odds * accepts + rejects for accepts, rejects in rates)
        case "Cllr":
            bits = [
                math.log2(1 + math.exp(-s if t else s))
                for s, t in zip(scores.tolist(), same.tolist(), strict=True)
            ]
            kinds = [
                [b for b, t in zip(bits, same.tolist(), strict=True) if t is kind] for kind in (True, False)
            ]
            return sum(sum(kind) / len(kind) for kind in kinds) / 2


# --- trials -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.parametrize("threshold", [0.5, 0.6, 99.0, -99.0])
def test_agrees_with_trials_repeated_as_often_as_their_classes(name, threshold):
    """The spread of the log odds of the replicates, times Student's t, around the value of all; for Cllr of
    their logarithms; the upper end of minDCF is raised by its bias, and also that of the plain numbers.
    """
    trials = few_trials()
    values = []
    for weights in class_weights(4, 40, 3):
        scores, same = resampled(*trials, weights)
        if same.any() and not same.all():
            values.append(measured(name, scores, same, threshold))
    options = {"statistics": [name], "threshold": threshold, "replicates": 40, "seed": 3}
    result = bootstrap_trials(*trials, **options)[name]
    value = measured(name, *trials[:2], threshold)
    assert result.mean == pytest.approx(value)
    reach = stats.t.ppf(0.975, 3) * math.sqrt(4 / 3)
    if name == "Cllr":
        factor = math.exp(
            reach * np.std(np.clip(np.log(np.array(values) / value), -math.log(10), math.log(10)))
        )
        assert (result.low, result.high) == pytest.approx((value / factor, value * factor))
    elif 0 < value < 1:
        odds = math.log(value / (1 - value))
        inside = np.clip(values, 1e-9, 1 - 1e-9)
        plain = reach * np.std(values)
        steps = np.clip(np.log(inside / (1 - inside)) - odds, -math.log(10), math.log(10))
        reach *= np.std(steps)
        low, high = (1 / (1 + math.exp(-odds + side * reach)) for side in (1, -1))
        trials_counted = {"FAR": 54, "FRR": 12, "accuracy": 66}
        if count := trials_counted.get(name):
            least = proportion_interval(round(value * count), count)
            low, high = min(low, least.low), max(high, least.high)
        if name in ("minDCF", "strict minDCF"):
            raised = 1 / (1 + math.exp(-odds - reach - max(0.0, -np.mean(steps))))
            high = max(raised, min(1.0, value + plain + max(0.0, value - np.mean(values))))
        assert (result.low, result.high) == pytest.approx((low, high))


def test_many_trials_are_looked_at_at_fewer_thresholds_without_harm():
    """The curve in steps of a per cent gives the spread of the curve at every score."""
    built = trials_of(8, 25, effect=0.4, apart=2.5, generator=torch.Generator().manual_seed(0))
    options = {"replicates": 60, "seed": 1}
    result = bootstrap_trials(*built, statistics=["EER", "AUC", "minDCF"], **options)
    draws = [resampled(*built, weights) for weights in class_weights(8, 60, 1)]
    for name, measure in (("EER", lambda *x: equal_error_rate(*x).rate), ("AUC", area_under_curve)):
        values = np.array([measure(*draw) for draw in draws])
        reach = stats.t.ppf(0.975, 7) * math.sqrt(8 / 7) * np.std(np.log(values / (1 - values)))
        value = result[name].mean
        high = 1 / (1 + math.exp(-math.log(value / (1 - value)) - reach))
        assert result[name].high == pytest.approx(high, rel=5e-3)


@settings(max_examples=15)
@given(seed=st.integers(0, 99))
def test_the_value_lies_inside_and_a_share_stays_one(seed):
    result = bootstrap_trials(
        *few_trials(seed), statistics=EVERYTHING, threshold=0.75, replicates=30, seed=seed
    )
    for name, interval in result.items():
        assert interval.low <= interval.mean <= interval.high
        assert interval.low >= 0
        assert name == "Cllr" or interval.high <= 1


def test_the_seed_fixes_the_draws_and_another_gives_others():
    trials = few_trials()
    assert bootstrap_trials(*trials, seed=1) == bootstrap_trials(*trials, seed=1)
    assert bootstrap_trials(*trials, seed=1) != bootstrap_trials(*trials, seed=2)


def all_pairs(classes, items):
    labels = torch.arange(classes).repeat_interleave(items)
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    first, second = labels[one], labels[other]
    return (first == second).float(), first == second, first, second


def test_without_an_error_the_interval_is_that_of_one():
    """One wrong among 30 trials of one class and 160 of two: its weight in the total of every replicate."""
    result = bootstrap_trials(*all_pairs(5, 4), statistics=EVERYTHING, threshold=0.5, replicates=40, seed=2)

    def of_one(shares, count):
        odds = -math.log(count - 1)
        inside = np.clip(shares, 1e-9, 1 - 1e-9)
        steps = np.clip(np.log(inside / (1 - inside)), odds - math.log(10), odds + math.log(10))
        return 1 / (1 + math.exp(-odds - stats.t.ppf(0.975, 4) * math.sqrt(5 / 4) * np.std(steps)))

    accepted, rejected = [], []
    for weights in class_weights(5, 40, 2):
        pairs = sum(16 * weights[a] * weights[b] for a in range(5) for b in range(a))
        if pairs:
            accepted.append(weights[0] * weights[1] / pairs)
            rejected.append(weights[0] / (6 * weights.sum()))
    of_same, of_different = of_one(rejected, 30), of_one(accepted, 160)
    assert result["FAR"] == pytest.approx((0, 0, of_different))
    assert result["FRR"] == pytest.approx((0, 0, of_same))
    assert result["EER"] == pytest.approx((0, 0, max(of_same, of_different)))
    assert result["AUC"] == pytest.approx((1, 1 - max(of_same, of_different), 1))
    assert result["minDCF"] == pytest.approx((0, 0, 1))
    assert result["accuracy"] == pytest.approx((1, 1 - max(of_same * 30, of_different * 160) / 190, 1))


@pytest.mark.parametrize(("classes", "items"), [(3, 2), (5, 4)])
def test_with_errors_only_it_is_as_unsure_as_without_any(classes, items):
    """Three classes of two items make 3 trials of one class and 12 of two."""
    scores, same, first, second = all_pairs(classes, items)
    options = {"statistics": EVERYTHING, "threshold": 0.5}
    none = bootstrap_trials(scores, same, first, second, **options)
    every = bootstrap_trials(1 - scores, same, first, second, **options)
    for name in ("EER", "AUC", "FAR", "FRR", "accuracy"):
        turned = 1 - none[name].mean, 1 - none[name].high, 1 - none[name].low
        assert every[name] == pytest.approx(turned)
        assert every[name].half > 0.05
    assert every["minDCF"].mean == every["minDCF"].high == 1
    assert every["minDCF"].low == pytest.approx(1 - none["EER"].high)


@pytest.mark.parametrize("classes", [3, 7, 40])
def test_no_error_at_all_is_never_surer_than_one(classes):
    scores, same, first, second = all_pairs(classes, 4)
    options = {"statistics": ("FAR", "FRR"), "threshold": 0.5}
    none = bootstrap_trials(scores, same, first, second, **options)
    every = bootstrap_trials(1 - scores, same, first, second, **options)
    for name, wrong in (("FAR", ~same), ("FRR", same)):
        places = wrong.nonzero().flatten()
        for place in (int(places[0]), int(places[-1])):
            changed = scores.clone()
            changed[place] = 1 - changed[place]
            one = bootstrap_trials(changed, same, first, second, **options)[name]
            # Which class it happens to be in matters as much as which replicates happen to be drawn.
            assert none[name].high >= (1 if place == places[0] else 0.7) * one.high
        count = len(places)
        assert none[name].high >= proportion_interval(0, count).high
        assert every[name].low == pytest.approx(1 - none[name].high)


def test_of_few_classes_no_error_among_very_many_trials_still_says_little():
    """Seven classes of 29 items make 17,661 trials of two classes, and 21 pairs."""
    result = bootstrap_trials(*all_pairs(7, 29), statistics=["FAR"], threshold=0.5)["FAR"]
    assert result.mean == result.low == 0
    assert result.high > 5 * proportion_interval(0, 17_661).high


def test_of_too_many_trials_a_part_gives_the_width_and_all_give_the_value():
    built = trials_of(10, 12, effect=0.5, apart=2.0, generator=torch.Generator().manual_seed(0))
    options = {"statistics": ("EER", "FAR", "accuracy"), "threshold": 1.0}
    whole, part = (bootstrap_trials(*built, **options, most_trials=most) for most in (10_000, 2_000))
    for name in options["statistics"]:
        assert part[name].mean == whole[name].mean
        assert part[name] != whole[name]
        assert part[name].half == pytest.approx(whole[name].half, rel=0.3)


def test_classes_as_different_as_they_come_widen_the_interval():
    plain, varied = (
        trials_of(20, 6, effect=effect, apart=2.0, generator=torch.Generator().manual_seed(0))
        for effect in (0.0, 0.8)
    )
    options = {"statistics": ["FAR"], "threshold": 1.0}
    narrow, wide = (bootstrap_trials(*value, **options)["FAR"] for value in (plain, varied))
    independent = proportion_interval(round(narrow.mean * 6840), 6840)
    assert wide.half > 1.5 * narrow.half > 1.5 * independent.half


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"statistics": ["eer"]}, "expected statistics among EER, .* got 'eer'"),
        ({"statistics": ["FAR"]}, "expected a threshold for FAR, got none"),
        ({"statistics": ["FRR"], "threshold": math.nan}, "expected a threshold for FRR, got none"),
        ({"prior": 0.0}, "expected a prior between 0 and 1"),
        ({"miss_cost": -1.0}, "miss_cost above 0"),
        ({"replicates": 1}, "expected two replicates or more to estimate a spread, got 1"),
    ],
)
def test_refuses_invalid_settings(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        bootstrap_trials(*few_trials(), **change)


def test_refuses_invalid_trials():
    scores, same, first, second = few_trials()
    with pytest.raises(ValueError, match=r"expected first and second of shape \(66,\) as same, got \(3,\)"):
        bootstrap_trials(scores, same, first[:3], second)
    with pytest.raises(ValueError, match=r"expected same to be first == second, got 66 trials"):
        bootstrap_trials(scores, ~same, first, second)
    two = (first < 2) & (second < 2)
    with pytest.raises(ValueError, match="expected trials of at least 3 classes, got 2"):
        bootstrap_trials(scores[two], same[two], first[two], second[two])
    scores[5] = math.nan
    with pytest.raises(ValueError, match="expected finite scores"):
        paired_bootstrap(torch.zeros_like(scores), scores, same, first, second)


# --- two systems ------------------------------------------------------------------------------------


def test_pairing_cancels_what_makes_a_class_hard_for_both():
    scores, same, first, second = trials_of(
        12, 5, effect=0.8, apart=2.0, generator=torch.Generator().manual_seed(0)
    )
    worse = scores - 0.3 * same.float()
    options = {"statistics": ["EER", "FRR"], "replicates": 200}
    result = paired_bootstrap(scores, worse, same, first, second, thresholds=(1.0, 1.0), **options)
    alone = bootstrap_trials(scores, same, first, second, threshold=1.0, **options)
    for name in ("EER", "FRR"):
        assert result[name].interval.high < 0  # fewer errors, clearly
        assert result[name].p_value < 0.05
        assert result[name].interval.half < alone[name].half
    back = paired_bootstrap(worse, scores, same, first, second, thresholds=(1.0, 1.0), **options)
    assert back["EER"].interval.mean == -result["EER"].interval.mean
    assert back["EER"].p_value == pytest.approx(result["EER"].p_value)


# --- and what is promised holds ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "items", "effect", "pair_effect"),
    [(10, 6, 0.5, 0.0), (30, 5, 0.5, 0.0), (30, 5, 0.2, 0.5), (60, 4, 0.5, 0.2)],
)
def test_of_many_intervals_about_95_in_100_hold_the_truth(classes, items, effect, pair_effect):
    apart, threshold, tests = 2.5, 1.3, 400
    far = math.sqrt(0.99 + 2 * effect**2 + pair_effect**2)
    near = math.sqrt(0.99 + effect**2)
    meet = optimize.brentq(lambda cut: stats.norm.sf(cut / far) - stats.norm.cdf((cut - apart) / near), 0, 3)
    truth = {
        "EER": stats.norm.sf(meet / far),
        "AUC": stats.norm.cdf(apart / math.hypot(near, far)),
        "FAR": stats.norm.sf(threshold / far),
        "FRR": stats.norm.cdf((threshold - apart) / near),
        "minDCF": optimize.minimize_scalar(
            lambda cut: 99 * stats.norm.sf(cut / far) + stats.norm.cdf((cut - apart) / near),
            bounds=(0, 9),
            method="bounded",
        ).fun,
    }
    generator = torch.Generator().manual_seed(1)
    held = dict.fromkeys(truth, 0)
    for seed in range(tests):
        built = trials_of(
            classes, items, effect=effect, apart=apart, generator=generator, pair_effect=pair_effect
        )
        options = {"threshold": threshold, "replicates": 200, "seed": seed}
        for name, interval in bootstrap_trials(*built, statistics=tuple(truth), **options).items():
            held[name] += interval.low <= truth[name] <= interval.high
    for name, count in held.items():
        most = 1.0 if name == "minDCF" else 0.985
        assert 0.92 <= count / tests <= most, f"{name}: {count} of {tests}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "items", "effect", "pair_effect", "threshold"),
    [(7, 20, 0.5, 1.0, 4.5), (10, 15, 1.0, 0.5, 5.5), (10, 15, 0.5, 0.0, 4.0), (30, 6, 0.5, 1.0, 5.2)],
)
def test_of_low_rates_too_and_of_the_tests_without_any_error(classes, items, effect, pair_effect, threshold):
    """A handful of classes often shows no error at all, of however many trials; the truth is not 0."""
    truth = stats.norm.sf(threshold / math.sqrt(0.99 + 2 * effect**2 + pair_effect**2))
    generator = torch.Generator().manual_seed(5)
    held, of_none = 0, []
    for seed in range(200):
        built = trials_of(
            classes, items, effect=effect, apart=9.0, generator=generator, pair_effect=pair_effect
        )
        result = bootstrap_trials(*built, statistics=["FAR"], threshold=threshold, replicates=200, seed=seed)
        inside = result["FAR"].low <= truth <= result["FAR"].high
        held += inside
        if result["FAR"].mean == 0:
            of_none.append(inside)
    assert held >= 0.94 * 200
    assert len(of_none) >= 5
    assert sum(of_none) >= 0.9 * len(of_none)
