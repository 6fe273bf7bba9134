"""All trials of a set against itertools, kept and walked."""

import inspect
import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from samekind import similarities
from samekind.errors import SettingError
from samekind.inference import all_trials, streamed_trials
from samekind.inference.trials import STRIP, ordered_trials, walk_trials
from samekind.measures import area_under_curve, equal_error_rate, rates_at
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace


def a_space(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


def a_similarity(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    takes = inspect.signature(kind).parameters
    needed = {"dimension": 3} if "dimension" in takes else {}
    return kind(**needed)


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_every_pair_is_there_once_the_earlier_item_first(name):
    space = a_space(a_similarity(name))
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 0, 2, 1, 1, 0])
    for kind in space.kinds:
        trials = all_trials(space, z, labels, kind=kind)
        pairs = list(itertools.combinations(range(7), 2))
        with torch.no_grad():
            scores = torch.cat([space.score(z[i : i + 1], z[j : j + 1], kind=kind) for i, j in pairs])
        torch.testing.assert_close(trials.scores, scores)
        assert trials.same.tolist() == [bool(labels[i] == labels[j]) for i, j in pairs]
        assert trials.first.tolist() == [int(labels[i]) for i, j in pairs]
        assert trials.second.tolist() == [int(labels[j]) for i, j in pairs]
        assert [trial.dtype for trial in trials] == [torch.float32, torch.bool, torch.int32, torch.int32]
        assert not trials.scores.requires_grad


def test_ordered_trials_are_those_of_itertools_for_every_kind():
    """With more items than a strip has, where walked ones are in another order."""
    space = a_space(a_similarity("PairsNetwork"))
    draw = torch.Generator().manual_seed(0)
    z, labels = torch.randn(STRIP + 9, 3, generator=draw), torch.randint(4, (STRIP + 9,), generator=draw)
    first, second = torch.tensor(list(itertools.combinations(range(len(z)), 2))).T
    for kind in space.kinds:
        trials = ordered_trials(space, z, labels, kind=kind)
        with torch.no_grad():
            scores = space.score(z[first], z[second], kind=kind)
        torch.testing.assert_close(trials.scores, scores)
        assert torch.equal(trials.same, labels[first] == labels[second])
        assert torch.equal(trials.first.long(), labels[first])
        assert torch.equal(trials.second.long(), labels[second])
        assert [trial.dtype for trial in trials] == [torch.float32, torch.bool, torch.int32, torch.int32]


def test_the_order_matters_to_a_pairs_network():
    """Else the test above could not tell the earlier first from the later first."""
    space = a_space(a_similarity("PairsNetwork"))
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.zeros(7, dtype=torch.int64)
    forwards, backwards = all_trials(space, z, labels).scores, all_trials(space, z.flip(0), labels).scores
    assert not torch.allclose(forwards.sort().values, backwards.sort().values)


@settings(max_examples=15)
@given(size=st.integers(0, 9), memory_budget=st.sampled_from([0, 1, 96, 300, 1000]), seed=st.integers(0, 99))
def test_in_little_memory_the_same_trials_come_in_some_order(size, memory_budget, seed):
    space = a_space(a_similarity("PairsNetwork"))
    generator = torch.Generator().manual_seed(seed)
    z, labels = torch.randn(size, 3, generator=generator), torch.randint(2, (size,), generator=generator)
    trials = all_trials(space, z, labels, memory_budget=memory_budget)
    whole = all_trials(space, z, labels)
    assert len(trials.scores) == len(trials.same) == size * (size - 1) // 2
    for classes in itertools.product(range(2), repeat=2):
        result, expected = (
            value.scores[(value.first == classes[0]) & (value.second == classes[1])].sort().values
            for value in (trials, whole)
        )
        torch.testing.assert_close(result, expected)
    assert torch.equal(trials.same, trials.first == trials.second)


@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_items_make_no_trial(size):
    trials = all_trials(a_space(Cosine()), torch.ones(size, 3), torch.zeros(size, dtype=torch.int64))
    assert trials.scores.shape == trials.same.shape == (0,)
    assert trials.same.dtype == torch.bool


def test_a_space_in_training_is_asked_in_evaluation_mode_and_left_in_training():
    space = a_space(PairsNetwork(dimension=3, hidden=6, dropout=0.9))
    z, labels = torch.eye(3), torch.tensor([0, 0, 1])
    at_rest = all_trials(space, z, labels)
    assert torch.equal(all_trials(space.train(), z, labels).scores, at_rest.scores)
    assert all(module.training for module in space.modules())


def test_over_several_strips_every_pair_still_comes_once():
    size = 2 * STRIP + 3
    # Item i lies at i: the distance of two items and the class of the first name the pair.
    z, labels = torch.arange(size)[:, None].float(), torch.arange(size)
    space = MetricSpace(nn.Identity(), similarities.Euclidean(), SupportMeans(dimension=1)).eval()
    trials = all_trials(space, z, labels)
    assert trials.first.numel() == size * (size - 1) // 2
    assert (trials.first < trials.second).all()
    assert len(torch.unique(trials.first * size + trials.second)) == trials.first.numel()
    torch.testing.assert_close(trials.scores, -(trials.second - trials.first).float(), atol=0.1, rtol=1e-3)
    assert not trials.same.any()


def test_a_walk_gives_the_trials_that_would_be_kept_twice_over():
    space = a_space(a_similarity("PairsNetwork"))
    generator = torch.Generator().manual_seed(0)
    z, labels = torch.randn(40, 3, generator=generator), torch.randint(3, (40,), generator=generator)
    chosen = all_trials(space, z, labels, memory_budget=1000)
    for _ in range(2):
        walked = list(walk_trials(space, z, labels, memory_budget=1000))
        assert len(walked) > 10
        for result, expected in zip(zip(*walked, strict=True), chosen, strict=True):
            assert torch.equal(torch.cat(result), expected)


def test_the_caller_keeps_its_modes_and_gradients():
    space = a_space(PairsNetwork(dimension=3, hidden=6, dropout=0.9)).train()
    for block in walk_trials(space, torch.eye(3), torch.arange(3)):
        assert torch.is_grad_enabled()
        assert all(module.training for module in space.modules())
        assert not block.scores.requires_grad


@pytest.mark.parametrize("name", ["PairsNetwork", "Cosine"])
@pytest.mark.parametrize("memory_budget", [None, 300_000])
def test_counted_trials_have_the_measures_of_those_kept(name, memory_budget):
    space = a_space(a_similarity(name))
    generator = torch.Generator().manual_seed(0)
    size = STRIP + 20
    labels = torch.randint(4, (size,), generator=generator)
    # Coarse numbers, so that there are ties and few bins.
    z = (torch.randn(size, 3, generator=generator) + labels[:, None]).round().clamp(0, 2)
    # Blocks of another size may round differently.
    chosen = all_trials(space, z, labels, memory_budget=memory_budget)
    result = streamed_trials(space, z, labels, threshold=0.25, memory_budget=memory_budget)
    assert (result.equal_error, result.threshold) == equal_error_rate(chosen.scores, chosen.same)
    assert result.area == area_under_curve(chosen.scores, chosen.same)
    assert result.same + result.different == size * (size - 1) // 2
    assert (result.false_accepts, result.false_rejects) == rates_at(chosen.scores, chosen.same, 0.25)
    once = streamed_trials(space, z, labels, exact=False, memory_budget=memory_budget)
    assert once.passes == 1
    assert once.area_bounds[0] <= result.area <= once.area_bounds[1]


@pytest.mark.parametrize("count", [9, STRIP + 5])
def test_pairs_of_one_group_are_left_out_everywhere(count):
    """Kept, in order, walked in small blocks and counted: the pairs of two groups, and no others."""
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(count, 3, generator=generator)
    labels, groups = torch.arange(count) % 3, torch.arange(count) // 2 * 7
    space = a_space(a_similarity("PairsNetwork"))
    pairs = [(i, j) for i, j in itertools.combinations(range(count), 2) if groups[i] != groups[j]]
    first, second = torch.tensor(pairs).T
    ordered = ordered_trials(space, z, labels, groups=groups)
    assert ordered.first.tolist() == labels[first].tolist()
    assert ordered.second.tolist() == labels[second].tolist()
    with torch.no_grad():
        torch.testing.assert_close(ordered.scores, space.score(z[first], z[second]))
    stored = all_trials(space, z, labels, groups=groups)
    blocks = walk_trials(space, z, labels, groups=groups, memory_budget=1 if count < STRIP else 100_000)
    walked = [torch.cat(block) for block in zip(*blocks, strict=True)]
    for scores in (stored.scores, walked[0]):
        torch.testing.assert_close(scores.sort().values, ordered.scores.sort().values)
    assert int(stored.same.sum()) == int(ordered.same.sum()) == int(walked[1].sum())
    counted = streamed_trials(space, z, labels, groups=groups)
    assert (counted.same, counted.different) == (int(stored.same.sum()), int((~stored.same).sum()))
    assert counted.area == pytest.approx(area_under_curve(stored.scores, stored.same), abs=1e-6)


def test_a_kernel_that_counts_all_pairs_takes_no_groups():
    space = a_space(a_similarity("PairsNetwork"))
    z, labels = torch.zeros(4, 3), torch.tensor([0, 0, 1, 1])
    with pytest.raises(SettingError, match="bfloat16 counts pairs of one group too"):
        streamed_trials(space, z, labels, groups=labels, precision="bfloat16")
