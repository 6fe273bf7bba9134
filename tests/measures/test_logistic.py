"""The logistic line against scikit-learn, and that it is the best one."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from samekind.measures import logistic
from samekind.measures.logistic import logistic_line


def many(count=600, systems=3, share=0.3):
    generator = torch.Generator().manual_seed(0)
    same = torch.arange(count) < count * share
    scores = torch.randn(count, systems, generator=generator, dtype=torch.double)
    strength = torch.linspace(0.2, 1.5, systems).double()
    return 5 * scores + 5 * strength * same[:, None] - 20, same


@pytest.mark.parametrize("prior", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("systems", [1, 3])
def test_agrees_with_scikit_learn_at_the_same_weights(prior, systems):
    scores, same = many(systems=systems)
    weight = torch.where(same, prior / same.sum(), (1 - prior) / (~same).sum())
    regression = LogisticRegression(C=1e6, tol=1e-10, max_iter=1000)
    regression.fit(scores.numpy(), same.numpy(), sample_weight=weight.numpy())
    weights, offset = logistic_line(scores, same, prior=prior)
    assert weights == pytest.approx(regression.coef_[0].tolist(), rel=0.02, abs=1e-3)
    # What scikit-learn's intercept says at these weights, the prior's odds say beforehand.
    expected = regression.intercept_.item() - math.log(prior / (1 - prior))
    assert offset == pytest.approx(expected, rel=0.02, abs=0.02)


@pytest.mark.parametrize("size", [1e-290, 1e-160, 1e160, 1e300, 1e307])
def test_scores_of_any_size_give_the_same_line(size):
    scores, same = many()
    ours, offset = logistic_line(scores / 50 * size, same, prior=0.3)
    expected, same_offset = logistic_line(scores / 50, same, prior=0.3)
    assert [slope * size for slope in ours] == pytest.approx(expected)
    assert offset == pytest.approx(same_offset)
    assert min(map(abs, expected)) > 0.1


@examples(max_examples=25)
@given(
    same=st.lists(st.integers(-20, 20), min_size=1, max_size=8),
    different=st.lists(st.integers(-20, 20), min_size=1, max_size=8),
    size=st.sampled_from([1e-4, 1.0, 1e4]),
    prior=st.sampled_from([0.01, 0.5, 0.8]),
)
def test_the_line_is_the_best_one(same, different, size, prior):
    """Newton has arrived: moving slope or offset a little either way is no better."""
    scores = torch.tensor([*same, *different], dtype=torch.double) * size
    kinds = torch.tensor([True] * len(same) + [False] * len(different))
    [slope], offset = logistic_line(scores[:, None], kinds, prior=prior)
    centre, spread = float(scores.mean()), float(scores.std())
    spread = spread if spread > 1e-9 * size else 1.0

    def cost(steepness, height):
        """The mean surprise of both kinds and the ridge, for the line over standardised scores."""
        logits = steepness * (scores - centre) / spread + height + math.log(prior / (1 - prior))
        surprise = F.softplus(torch.where(kinds, -logits, logits))
        both = prior * surprise[kinds].mean() + (1 - prior) * surprise[~kinds].mean()
        return float(both + 0.5e-4 * (steepness**2 + height**2))

    steepness, height = slope * spread, offset + slope * centre
    best = cost(steepness, height)
    for move in (-1e-2, 1e-2):
        assert best <= cost(steepness + move, height) + 1e-12
        assert best <= cost(steepness, height + move) + 1e-12


def test_in_chunks_it_is_the_same(monkeypatch):
    scores, same = many()
    whole = logistic_line(scores, same, prior=0.5)
    monkeypatch.setattr(logistic, "CHUNK", 7)
    weights, offset = logistic_line(scores, same, prior=0.5)
    assert weights == pytest.approx(whole[0])
    assert offset == pytest.approx(whole[1])


@pytest.mark.parametrize("constant", [0.0, 0.3, 1e6])
def test_a_constant_column_says_nothing(constant):
    scores, same = many(systems=1)
    both = torch.cat([scores, torch.full_like(scores, constant)], dim=1)
    weights, offset = logistic_line(both, same, prior=0.5)
    [alone], expected = logistic_line(scores, same, prior=0.5)
    assert weights[0] == pytest.approx(alone)
    assert offset + weights[1] * constant == pytest.approx(expected)


@pytest.mark.parametrize("prior", [0.0, 1.0, math.nan])
def test_refuses_priors_of_0_and_1(prior):
    with pytest.raises(ValueError, match=f"expected a prior between 0 and 1, got {prior}"):
        logistic_line(*many(), prior=prior)
