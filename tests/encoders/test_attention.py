"""Scores, weights and weighted means against loops over items, features and places."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.encoders.attention import (
    additive_scores,
    multiplicative_scores,
    weighted_mean,
    weights_over_places,
)

ACTIVATIONS = {"tanh": math.tanh, "relu": lambda x: max(x, 0.0), "none": lambda x: x}


def drawn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def additive_by_hand(keys, query, vectors, activate):
    """One item, one vector and one place at a time."""
    items, width, places = keys.shape
    return torch.tensor(
        [
            [
                [
                    sum(
                        float(vector[k]) * activate(float(keys[i, k, j]) + float(query[i, k]))
                        for k in range(width)
                    )
                    for j in range(places)
                ]
                for vector in vectors
            ]
            for i in range(items)
        ],
        dtype=torch.double,
    )


def softmax_by_hand(row):
    powers = [math.exp(value - max(row)) for value in row]
    return [power / sum(powers) for power in powers]


def test_multiplicative_scores_are_inner_products():
    keys, query = drawn(2, 3, 4), drawn(2, 3, seed=1)
    scores = multiplicative_scores(keys, query)
    assert scores.shape == (2, 1, 4)
    for i in range(2):
        for j in range(4):
            by_hand = sum(float(keys[i, k, j]) * float(query[i, k]) for k in range(3))
            assert scores[i, 0, j].item() == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("features", [1, 5])
def test_additive_scores_agree_with_the_loop(activation, features):
    keys, query, vectors = drawn(2, 3, 4), drawn(2, 3, seed=1), drawn(features, 3, seed=2)
    scores = additive_scores(keys, query, vectors, activation=activation)
    by_hand = additive_by_hand(keys, query, vectors, ACTIVATIONS[activation])
    torch.testing.assert_close(scores, by_hand)


def test_weights_are_a_softmax_over_the_places_of_each_feature():
    scores = drawn(2, 3, 5)
    weights = weights_over_places(scores)
    for i in range(2):
        for k in range(3):
            assert weights[i, k].tolist() == pytest.approx(softmax_by_hand(scores[i, k].tolist()))


@pytest.mark.parametrize("features", [1, 3])
def test_the_weighted_mean_agrees_with_the_loop(features):
    values, weights = drawn(2, 3, 5), drawn(2, features, 5, seed=1).softmax(-1)
    result = weighted_mean(values, weights)
    for i in range(2):
        for k in range(3):
            own = k if features > 1 else 0
            by_hand = sum(float(weights[i, own, j]) * float(values[i, k, j]) for j in range(5))
            assert result[i, k].item() == pytest.approx(by_hand, abs=1e-12)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), places=st.integers(1, 6))
def test_what_is_attended_to_lies_between_the_least_and_the_most(seed, places):
    values, scores = drawn(2, 3, places, seed=seed), 5 * drawn(2, 3, places, seed=seed + 1)
    result = weighted_mean(values, weights_over_places(scores))
    assert (result >= values.amin(-1) - 1e-12).all()
    assert (result <= values.amax(-1) + 1e-12).all()


def test_equal_scores_average_and_a_very_high_one_picks_its_place():
    values = drawn(1, 3, 4)
    even = weighted_mean(values, weights_over_places(torch.full((1, 1, 4), 7.0).double()))
    torch.testing.assert_close(even, values.mean(-1))
    sharp = torch.tensor([[[0.0, 1e4, 0.0, 0.0]]]).double()
    torch.testing.assert_close(weighted_mean(values, weights_over_places(sharp)), values[..., 1])


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_query_does_not_cancel_out(activation):
    keys, vectors = drawn(1, 3, 4), drawn(1, 3, seed=2)
    one, other = (
        weights_over_places(additive_scores(keys, query, vectors, activation=activation))
        for query in (drawn(1, 3, seed=3), drawn(1, 3, seed=4))
    )
    assert (one - other).abs().max() > 0.01
    multiplied = [weights_over_places(multiplicative_scores(keys, drawn(1, 3, seed=s))) for s in (3, 4)]
    assert (multiplied[0] - multiplied[1]).abs().max() > 0.01


def test_without_an_activation_it_does():
    keys, vectors = drawn(1, 3, 4), drawn(1, 3, seed=2)
    one, other = (
        weights_over_places(additive_scores(keys, query, vectors, activation="none"))
        for query in (drawn(1, 3, seed=3), 100 * drawn(1, 3, seed=4))
    )
    torch.testing.assert_close(one, other)


def test_the_gradient_of_the_scores_is_the_closed_form():
    """p = Σ a_j v_j and a = softmax(s), so dp_k/ds_j = a_j (v_kj - p_k); tanh has the slope 1 - tanh²."""
    keys, query, vectors = drawn(1, 3, 4), drawn(1, 3, seed=1), drawn(1, 3, seed=2)
    values = drawn(1, 2, 4, seed=3)
    query.requires_grad_()
    weights = weights_over_places(additive_scores(keys, query, vectors, activation="tanh"))
    result = weighted_mean(values, weights)
    result[0, 1].backward()
    a, p = weights.detach()[0, 0], result.detach()[0, 1]
    slopes = 1 - (keys[0] + query.detach()[0, :, None]).tanh() ** 2  # (width, places)
    expected = [
        sum(
            float(a[j]) * float(values[0, 1, j] - p) * float(vectors[0, k]) * float(slopes[k, j])
            for j in range(4)
        )
        for k in range(3)
    ]
    assert query.grad[0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("form", ["multiplicative", "additive", "multidimensional"])
def test_the_gradient_agrees_with_finite_differences(form):
    keys, query, values = drawn(2, 3, 4), drawn(2, 3, seed=1), drawn(2, 3, 4, seed=5)
    vectors = drawn(1 if form == "additive" else 3, 3, seed=2)

    def attended(keys, query, vectors, values):
        if form == "multiplicative":
            scores = multiplicative_scores(keys, query)
        else:
            scores = additive_scores(keys, query, vectors, activation="tanh")
        return weighted_mean(values, weights_over_places(scores))

    used = [value.requires_grad_() for value in (keys, query, vectors, values)]
    assert torch.autograd.gradcheck(attended, used)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_neither_overflows_nor_loses_the_answer(dtype):
    """Scores of 200,000 are infinite in half precision, and infinite less infinite is not a number."""
    keys = torch.full((1, 8, 3), 160.0, dtype=dtype)
    keys[..., 1] += 1
    query = torch.full((1, 8), 160.0, dtype=dtype)
    with torch.autocast("cpu", dtype):
        scores = multiplicative_scores(keys, query)
        weights = weights_over_places(scores)
        result = weighted_mean(keys, weights)
    assert scores.dtype == weights.dtype == torch.float32
    assert weights[0, 0].tolist() == [0, 1, 0]
    assert result.dtype == dtype
    assert torch.equal(result, keys[..., 1])
    assert (
        additive_scores(keys, query, torch.ones(1, 8, dtype=dtype), activation="relu").dtype == torch.float32
    )


def test_nothing_has_nothing_to_attend_to():
    weights = weights_over_places(multiplicative_scores(torch.empty(0, 3, 4), torch.empty(0, 3)))
    assert weighted_mean(torch.empty(0, 3, 4), weights).shape == (0, 3)
