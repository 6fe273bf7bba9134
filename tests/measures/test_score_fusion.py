"""Score fusion against the formula, calibration of one system, and a system that adds nothing."""

import doctest
import json
import math

import pytest
import torch

from samekind.measures import (
    Fusion,
    equal_error_rate,
    fused_score,
    logistic_calibration,
    logistic_fusion,
    score_fusion,
)


def two_systems(count=4000):
    """Two noisy views of the same trials, on different scales."""
    generator = torch.Generator().manual_seed(0)
    same = torch.arange(count) < count // 3
    noise = torch.randn(count, 2, generator=generator, dtype=torch.double)
    return (noise + 2 * same[:, None]) * torch.tensor([1.0, 50.0]), same


def test_the_papers_formula_pair_by_pair():
    logits, cosines = torch.tensor([-3.0, 0.0, 2.0]), torch.tensor([-1.0, 0.5, 1.0])
    expected = [
        (1 / (1 + math.exp(-logit)) + (cosine + 1) / 2) / 2
        for logit, cosine in zip(logits.tolist(), cosines.tolist(), strict=True)
    ]
    assert fused_score(logits, cosines).tolist() == pytest.approx(expected)


def test_refuses_logits_and_cosines_of_different_shapes():
    with pytest.raises(ValueError, match=r"of one shape, at least one of each, got \(2,\) and \(3,\)"):
        fused_score(torch.zeros(2), torch.zeros(3))


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_one_system_is_calibration(prior):
    systems, same = two_systems(500)
    fusion = logistic_fusion(systems[:, :1], same, prior=prior)
    slope, offset = logistic_calibration(systems[:, 0], same, prior=prior)
    assert fusion == (pytest.approx((slope,)), pytest.approx(offset))


def test_two_equally_good_systems_weigh_the_same_on_their_own_scales_and_are_better_together():
    systems, same = two_systems()
    fusion = logistic_fusion(systems, same)
    assert fusion.weights[0] == pytest.approx(50 * fusion.weights[1], rel=0.1)
    # Two independent views, each 2 apart: the log likelihood ratio is 2 (a + b / 50) - 4.
    assert fusion.weights[0] == pytest.approx(2, rel=0.1)
    assert fusion.offset == pytest.approx(-4, rel=0.1)
    together = equal_error_rate(fusion.score(systems), same).rate
    assert together < min(equal_error_rate(systems[:, value], same).rate for value in (0, 1)) - 0.05


def test_a_system_of_noise_gets_hardly_any_weight():
    systems, same = two_systems()
    systems[:, 1] = torch.randn(len(same), generator=torch.Generator().manual_seed(1))
    weights, _ = logistic_fusion(systems, same)
    assert abs(weights[1]) < 0.1 * weights[0]


def test_separated_trials_and_equal_systems_give_finite_weights():
    scores = torch.arange(10).double()
    systems, same = torch.stack([scores, scores, torch.zeros(10)], dim=1), scores >= 5
    weights, offset = logistic_fusion(systems, same)
    assert all(math.isfinite(value) for value in (*weights, offset))
    assert weights[0] == pytest.approx(weights[1])
    assert weights[2] == pytest.approx(0)


def test_the_fused_score_is_the_weighted_sum_and_survives_json():
    fusion = Fusion(**json.loads(json.dumps(Fusion((1.0, -2.0), 0.5)._asdict())))
    assert fusion.score(torch.tensor([[1.0, 1.0], [0.0, 3.0]])).tolist() == [-0.5, -5.5]
    with pytest.raises(ValueError, match=r"expected scores of shape \(trials, 2\), got \(2, 3\)"):
        fusion.score(torch.zeros(2, 3))


@pytest.mark.parametrize(
    ("systems", "same", "message"),
    [
        (torch.zeros(3), torch.tensor([True, False, True]), r"expected scores \(trials, systems\)"),
        (torch.zeros(3, 2), torch.tensor([True, False]), r"expected scores \(trials, systems\)"),
        (torch.zeros(2, 0), torch.tensor([True, False]), r"expected scores \(trials, systems\)"),
        (torch.zeros(2, 1), torch.tensor([True, True]), "expected trials of both kinds"),
        (torch.zeros(2, 1), torch.tensor([1, 0]), "expected a boolean same"),
        (torch.full((2, 1), math.nan), torch.tensor([True, False]), "expected finite scores, got 2 of 2"),
    ],
)
def test_refuses_invalid_systems(systems, same, message):
    with pytest.raises(ValueError, match=message):
        logistic_fusion(systems, same)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(score_fusion)
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_refuses_nan():
    numbers, broken = torch.tensor([0.0, 1.0]), torch.tensor([torch.nan, 0.5])
    for logits, cosines in ((numbers, broken), (broken, numbers)):
        with pytest.raises(ValueError, match="expected numbers, got 1 of 2 pairs with NaN"):
            fused_score(logits, cosines)
    assert fused_score(torch.tensor([torch.inf]), torch.tensor([1.0])) == 1.0
