"""Enrolled sets against loops over their items: every one of them counts."""

import statistics

import pytest
import torch
from torch import nn

from samekind.errors import DataError, SettingError
from samekind.inference.enrolment import COMBINATIONS, enrolment_scores, listed_scores
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean, PairsNetwork, TwoCovariance
from samekind.space import MetricSpace

GENERATOR = torch.Generator().manual_seed(0)
SETS = [torch.randn(size, 3, generator=GENERATOR) for size in (1, 2, 5)]
TESTS = torch.randn(4, 3, generator=GENERATOR)
OF_SCORES = {"mean": statistics.fmean, "median": statistics.median, "max": max, "min": min}


def a_space(similarity=None):
    torch.manual_seed(0)
    similarity = similarity or PairsNetwork(dimension=3, hidden=8, dropout=0.5)
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3))


def by_hand(space, items, test, combination, kind):
    """One set and one test item, the set in the first place."""
    space.eval()
    with torch.no_grad():
        if combination == "embedding":
            mean = sum(items) / len(items)
            return float(space.score(mean[None], test[None], kind=kind))
        return OF_SCORES[combination](
            [float(space.score(item[None], test[None], kind=kind)) for item in items]
        )


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_agrees_with_a_loop_over_every_item(combination, kind, memory_budget):
    space = a_space()
    result = enrolment_scores(space, SETS, TESTS, combination=combination, kind=kind)
    expected = [[by_hand(space, items, test, combination, kind) for test in TESTS] for items in SETS]
    torch.testing.assert_close(result, torch.tensor(expected))


def test_a_similarity_that_counts_items_gets_their_number():
    z = torch.randn(30, 3, generator=torch.Generator().manual_seed(1))
    space = a_space(TwoCovariance(dimension=3).fit(z, torch.arange(30) % 5))
    means = torch.stack([items.mean(0) for items in SETS])
    expected = space.score_enrolled(means, TESTS, torch.tensor([1, 2, 5]))
    torch.testing.assert_close(enrolment_scores(space, SETS, TESTS), expected)
    assert not torch.allclose(expected[1:], space.score_all(means, TESTS)[1:])


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("item", range(5))
def test_every_item_of_a_set_counts(combination, item):
    """Moved far enough, any of them changes the scores, not the last one alone."""
    space = a_space(Euclidean())
    before = enrolment_scores(space, SETS, TESTS, combination=combination)
    for away in (-50.0, 50.0, None):
        moved = SETS[2].clone()
        moved[item] = TESTS[0] if away is None else away
        after = enrolment_scores(space, [SETS[2] * 0 + 1, moved], TESTS, combination=combination)[1]
        if not torch.allclose(after, before[2]):
            return
    pytest.fail("the item plays no part")


def test_a_set_of_one_is_the_same_however_it_is_combined():
    scores = [
        enrolment_scores(a_space(), SETS[:1], TESTS, combination=combination) for combination in COMBINATIONS
    ]
    for score in scores[1:]:
        torch.testing.assert_close(score, scores[0])


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_a_list_is_scored_trial_by_trial(combination):
    space, z = a_space(), torch.cat([*SETS, TESTS])
    sets = [(0,), (1, 2), (7, 3, 4, 5, 6)]
    first, second = torch.tensor([2, 0, 1, 2, 2]), torch.tensor([8, 11, 9, 8, 10])
    matrix = enrolment_scores(space, SETS, TESTS, combination=combination)
    result = listed_scores(space, z, sets, first, second, combination=combination)
    torch.testing.assert_close(result, matrix[first, second - 8])


def test_dropout_plays_no_part_and_the_mode_is_kept():
    space = a_space().train()
    first, second = (enrolment_scores(space, SETS, TESTS) for _ in range(2))
    assert torch.equal(first, second)
    assert space.training


def test_nobody_enrolled_nobody_scored():
    assert enrolment_scores(a_space(), [], TESTS).shape == (0, 4)
    assert enrolment_scores(a_space(), SETS, TESTS[:0]).shape == (3, 0)


def test_refuses_an_empty_set():
    with pytest.raises(DataError, match="number 2 of 2 has none"):
        enrolment_scores(a_space(), [SETS[0], SETS[0][:0]], TESTS)


def test_refuses_an_unknown_combination():
    with pytest.raises(SettingError, match='did you mean "median"'):
        enrolment_scores(a_space(), SETS, TESTS, combination="medan")
