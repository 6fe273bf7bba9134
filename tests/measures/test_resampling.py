"""Trials counted by threshold and pair of classes: against counting them one by one."""

import numpy as np
import pytest
import torch

from samekind.measures import resampling
from samekind.measures.resampling import class_weights, count_trials, curves


def some_trials(count=80, classes=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    sides = torch.randint(classes, (2, count), generator=generator)
    scores = (torch.randn(count, generator=generator) * 8).round() / 8
    return scores, sides[0] == sides[1], sides


def counted(trials, threshold=None, **options):
    scores, same, sides = trials
    return count_trials(scores, same, sides, classes=5, threshold=threshold, **options)


def test_a_replicate_draws_as_many_classes_as_there_are():
    weights = class_weights(7, 1000, 0)
    assert weights.shape == (1000, 7)
    assert (weights.sum(1) == 7).all()
    assert weights.mean(0) == pytest.approx(np.ones(7), abs=0.1)
    assert weights.var(0) == pytest.approx(np.full(7, 6 / 7), abs=0.15)
    assert np.array_equal(weights, class_weights(7, 1000, 0))
    assert not np.array_equal(weights, class_weights(7, 1000, 1))


@pytest.mark.parametrize("most_weights", [1, 60, 10_000])
def test_the_curves_are_those_of_trials_weighted_one_by_one(monkeypatch, most_weights):
    """However few replicates are held at a time."""
    monkeypatch.setattr(resampling, "MOST_WEIGHTS", most_weights)
    scores, same, sides = trials = some_trials()
    weights = class_weights(5, 6, 0)
    result = [curve for [curve] in curves([counted(trials)], weights)]
    accepts, rejects = (
        np.concatenate(parts, axis=1)
        for parts in zip(*((value.false_accepts, value.false_rejects) for value in result), strict=True)
    )
    cuts = scores.unique().flip(0)
    assert len(accepts) == len(cuts)  # so few trials are looked at wherever a score lies
    for replicate, row in enumerate(weights):
        weight = [row[a] if a == b else row[a] * row[b] for a, b in sides.T.tolist()]
        weight = torch.tensor(weight, dtype=torch.double)
        for index, cut in enumerate(cuts):
            fooled = weight[~same & (scores >= cut)].sum() / weight[~same].sum()
            missed = weight[same & (scores < cut)].sum() / weight[same].sum()
            assert accepts[index, replicate] == pytest.approx(float(fooled))
            assert rejects[index, replicate] == pytest.approx(float(missed))


def test_thresholds_lie_so_close_that_neither_count_jumps():
    """By more than about a per cent, or one trial."""
    generator = torch.Generator().manual_seed(0)
    same = torch.arange(60_000) < 20_000
    scores = torch.randn(60_000, generator=generator) + 2 * same
    sides = torch.randint(5, (2, 60_000), generator=generator)
    sides[1] = torch.where(same, sides[0], (sides[0] + 1) % 5)
    result = counted((scores, same, sides))
    accepted = result.different.sum(1).cumsum()
    missed = 20_000 - result.same.sum(1).cumsum()
    assert len(accepted) < 4500
    for counts in (accepted, missed):
        smaller, larger = np.minimum(counts[1:], counts[:-1]), np.maximum(counts[1:], counts[:-1])
        assert ((larger - smaller <= 0.0101 * (smaller + 1)) | (larger - smaller <= 1)).all()
    assert accepted[-1] == 40_000
    assert missed[-1] == 0


@pytest.mark.parametrize("threshold", [-99.0, -0.3, 0.0, 0.125, 0.13, 99.0])
def test_the_given_threshold_is_one_of_the_thresholds(threshold):
    scores, same, _ = trials = some_trials(3000)
    result = counted(trials, threshold)
    assert result.different[: result.accepting].sum() == int(((scores >= threshold) & ~same).sum())
    assert result.same[: result.accepting].sum() == int(((scores >= threshold) & same).sum())


def test_a_sample_is_weighted_up_to_all_trials():
    whole, half = counted(some_trials()), counted(some_trials(), shares=(0.5, 0.25))
    assert half.same.sum() == 2 * whole.same.sum()
    assert half.different.sum() == 4 * whole.different.sum()
    assert half.same_surprise == pytest.approx(2 * whole.same_surprise)


def test_replicates_without_trials_of_one_kind_are_left_out():
    weights = np.zeros((3, 5))
    weights[0, 0] = 5  # one class alone: no trial of two
    weights[1:] = 1
    [[result]] = list(curves([counted(some_trials())], weights))
    assert result.false_accepts.shape[1] == 2
    assert list(curves([counted(some_trials())], weights[:1])) == []
