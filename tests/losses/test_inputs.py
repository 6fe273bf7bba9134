"""Wrong inputs of a loss raise an error with what was expected and what came."""

import math

import pytest
import torch

from samekind import losses
from samekind.errors import SettingError
from samekind.losses.inputs import as_numbers, check, check_between

SCORES, NOBODY = torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.bool)


def test_accepts_a_batch():
    check(SCORES, NOBODY, NOBODY)
    between = torch.zeros(4, 4)
    assert check_between(between, SCORES) is between


def test_scores_are_a_matrix():
    with pytest.raises(ValueError, match=r"expected scores \(anchors, candidates\), got shape \(4,\)"):
        check(SCORES[0], NOBODY[0], NOBODY[0])


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("softmax", {}),
        ("softmax", {"targets": torch.tensor([0, 1, 2])}),
        ("additive_margin", {}),
        ("pair_likelihood", {}),
        ("proxy_nca", {}),
        ("proxy_nca", {"denominator": "others"}),
    ],
)
def test_refuses_a_smoothing_outside_of_0_to_1(name, beside):
    masks = torch.eye(3, 4, dtype=torch.bool), ~torch.eye(3, 4, dtype=torch.bool)
    for smoothing in (-0.1, 1.0, 1.5, math.nan):
        with pytest.raises(SettingError, match=f"smoothing is .* from 0 up, below 1; got {smoothing}"):
            getattr(losses, name)(SCORES, *masks, smoothing=smoothing, **beside)
    for allowed in (0.0, 0.99):
        assert getattr(losses, name)(SCORES, *masks, smoothing=allowed, **beside).isfinite().all()


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("circle", "sharpness"),
        ("proxy_anchor", "sharpness"),
        ("multi_similarity", "attraction"),
        ("multi_similarity", "repulsion"),
    ],
)
def test_refuses_a_factor_that_is_not_positive_and_finite(name, setting):
    for value in (0.0, -80.0, math.inf, math.nan):
        with pytest.raises(SettingError, match=f"{setting} must be a positive number, got {value}"):
            getattr(losses, name)(SCORES, NOBODY, NOBODY, **{setting: value})


@pytest.mark.parametrize("mask", [NOBODY[:1], NOBODY[:, :1], NOBODY.T, NOBODY[0]])
def test_refuses_a_mask_that_torch_would_broadcast(mask):
    with pytest.raises(ValueError, match=r"scores and positive of one shape .*, got \(3, 4\) and"):
        check(SCORES, mask, NOBODY)
    with pytest.raises(ValueError, match=r"scores and negative of one shape .*, got \(3, 4\) and"):
        check(SCORES, NOBODY, mask)


def test_a_mask_is_boolean():
    with pytest.raises(ValueError, match=r"expected a boolean negative, got torch.int64; use .bool\(\)"):
        check(SCORES, NOBODY, NOBODY.long())


@pytest.mark.parametrize("name", ["angular", "lifted_structure", "quadruplet"])
def test_a_loss_that_compares_candidates_asks_for_their_scores(name):
    loss = getattr(losses, name)
    with pytest.raises(ValueError, match=r"the scores \(4, 4\) of candidates with each other, got None"):
        loss(SCORES, NOBODY, NOBODY)
    with pytest.raises(ValueError, match=r"between of shape \(4, 4\), .* got \(3, 4\)"):
        loss(SCORES, NOBODY, NOBODY, between=SCORES)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_mask_as_numbers(dtype):
    mask = torch.tensor([[True, False], [False, True]])
    numbers = as_numbers(mask.T, torch.zeros(1, dtype=dtype))
    assert numbers.dtype == dtype
    assert numbers.tolist() == [[1, 0], [0, 1]]
