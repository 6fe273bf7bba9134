"""Means of classes and pooled scores against loops."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.prototypes import LearnedProxies, SupportMeans, class_means, pool
from samekind.prototypes.classes import POOLINGS, check_vectors


@settings(max_examples=30)
@given(seed=st.integers(0, 2**31), labels=st.lists(st.integers(0, 4), max_size=9))
def test_the_mean_of_each_class_is_what_a_loop_finds(seed, labels):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(len(labels), 3, dtype=torch.double, generator=generator)
    means, present = class_means(z, torch.tensor(labels, dtype=torch.long), 5)
    assert means.shape == (5, 3)
    assert means.dtype == z.dtype
    for label in range(5):
        members = [z[i] for i, value in enumerate(labels) if value == label]
        assert present[label] == bool(members)
        expected = sum(members) / len(members) if members else torch.zeros(3, dtype=torch.double)
        torch.testing.assert_close(means[label], expected)


def test_the_mean_has_a_gradient():
    """Means of support items are trained through in an episode."""
    z = torch.ones(3, 2, requires_grad=True)
    class_means(z, torch.tensor([0, 0, 1]), 2)[0].sum().backward()
    assert z.grad.tolist() == [[0.5, 0.5], [0.5, 0.5], [1.0, 1.0]]


def by_hand(values, how, temperature=0.1):
    """One score from the scores of several vectors."""
    if how == "mean":
        return sum(values) / len(values)
    if how == "max":
        return max(values)
    weights = [math.exp(value / temperature) for value in values]
    if how == "sum":
        return temperature * math.log(sum(weights))
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


@pytest.mark.parametrize("how", ["mean", "max", "soft", "sum"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_pooling_agrees_with_the_definition(how, count):
    generator = torch.Generator().manual_seed(count)
    scores = torch.randn(4, 3, count, dtype=torch.double, generator=generator)
    expected = [[by_hand(values, how) for values in row] for row in scores.tolist()]
    torch.testing.assert_close(pool(scores, how), torch.tensor(expected, dtype=torch.double))


def test_soft_pooling_has_a_temperature():
    """From the mean, where it is high, to the maximum, where it is low."""
    scores = torch.tensor([[[0.2, 0.5, -0.1]]], dtype=torch.double)
    for temperature in (0.05, 1.0):
        expected = by_hand(scores.flatten().tolist(), "soft", temperature)
        assert pool(scores, "soft", temperature=temperature).item() == pytest.approx(expected)
    assert pool(scores, "soft", temperature=1e4).item() == pytest.approx(0.2, abs=1e-4)
    assert pool(scores, "soft", temperature=1e-4).item() == pytest.approx(0.5)


@pytest.mark.parametrize("how", ["mean", "max", "soft"])
def test_one_vector_pools_to_itself(how):
    scores = torch.tensor([[[1e4], [-1e4], [0.0]]])
    assert torch.equal(pool(scores, how), scores[..., 0])


def test_soft_lies_between_mean_and_max():
    scores = torch.tensor([[[0.0, 0.1, 0.3]]])
    mean, soft, most = (pool(scores, how).item() for how in ("mean", "soft", "max"))
    assert mean < soft < most
    assert pool(1000 * scores, "soft").item() == pytest.approx(300)


def test_refuses_an_unknown_pooling():
    with pytest.raises(SettingError, match='"mean", "max", "soft" or "sum", got "median"'):
        pool(torch.zeros(1, 1, 1), "median")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"count": 0}, "a class needs at least one vector, got count=0"),
        ({"pooling": "soft", "temperature": 0.0}, "temperature .* must be a positive number, got 0.0"),
        ({"temperature": -0.1}, "temperature .* must be a positive number, got -0.1"),
        ({"temperature": float("nan")}, "temperature .* must be a positive number, got nan"),
        ({"pooling": "median"}, 'pooling must be "mean", "max", "soft" or "sum", got "median"'),
    ],
)
@pytest.mark.parametrize("kind", [LearnedProxies, SupportMeans])
def test_several_vectors_a_class_need_a_pooling(kind, settings, words):
    with pytest.raises(SettingError, match=words):
        kind(["a", "b"], dimension=4, **settings)


@pytest.mark.parametrize("how", POOLINGS)
def test_every_way_of_pooling_is_known_to_both(how):
    LearnedProxies(["a"], dimension=4, count=2, pooling=how)
    # The sum of two equal parts is ln 2 temperatures higher.
    expected = 1 + 0.1 * math.log(2) if how == "sum" else 1
    assert pool(torch.ones(1, 1, 2), how).item() == pytest.approx(expected)


def test_takes_vectors_that_fit():
    check_vectors(["a", "b"], torch.zeros(2, 3, 4), dimension=4)
    check_vectors(["a", "b"], torch.zeros(2, 3, 4), dimension=4, count=3)
    check_vectors([], torch.zeros(0, 1, 4), dimension=4)


def test_refuses_vectors_of_another_shape():
    with pytest.raises(SettingError, match=r"\(2 classes, k, 4\), got \(3, 1, 4\)"):
        check_vectors(["a", "b"], torch.zeros(3, 1, 4), dimension=4)
    with pytest.raises(SettingError, match=r"\(2 classes, 1, 4\), got \(2, 3, 4\)"):
        check_vectors(["a", "b"], torch.zeros(2, 3, 4), dimension=4, count=1)
    with pytest.raises(SettingError, match="class names must differ, got a, a"):
        check_vectors(["a", "a"], torch.zeros(2, 1, 4), dimension=4)
