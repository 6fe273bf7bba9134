"""Training dynamics against loops, in the cases where the answer is known, and the thesis's own p-values."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from samekind.measures.geometry import (
    compare_checkpoints,
    rescaling,
    step_dynamics,
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


# --- rescaling --------------------------------------------------------------------------------------


def test_the_definition_entry_by_entry():
    old, new = drawn(6, 3), drawn(6, 3, seed=1)
    before = [[float(old[i, j] - old[:, j].mean()) for j in range(3)] for i in range(6)]
    after = [[float(new[i, j] - new[:, j].mean()) for j in range(3)] for i in range(6)]
    cells = [(a, b) for xs, ys in zip(before, after, strict=True) for a, b in zip(xs, ys, strict=True)]
    alpha = sum(a * b for a, b in cells) / sum(a * a for a, _ in cells)
    ratio = math.sqrt(sum((b - alpha * a) ** 2 for a, b in cells) / sum((b - a) ** 2 for a, b in cells))
    assert rescaling(old, new) == pytest.approx((alpha, ratio))


@given(st.integers(0, 10**6), st.floats(0.1, 10).filter(lambda factor: abs(factor - 1) > 0.01))
@effort(max_examples=15, deadline=None)
def test_a_plain_rescaling_moved_or_not_has_no_other_part(seed, factor):
    old = drawn(5, 3, seed=seed)
    result = rescaling(old, factor * old + drawn(3, seed=seed + 1))
    assert result.alpha == pytest.approx(factor)
    assert result.norm_ratio == pytest.approx(0, abs=1e-9)


def test_a_change_across_has_no_part_that_rescales():
    old = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert rescaling(old, old + torch.tensor([[0.0, 3.0], [0.0, -3.0]])) == (1.0, 1.0)


def test_it_is_the_sine_of_the_angle_between_change_and_old():
    old, new = drawn(9, 4), drawn(9, 4, seed=1)
    before = old - old.mean(0)
    change = new - new.mean(0) - before
    cosine = float((change * before).sum() / (change.norm() * before.norm()))
    assert rescaling(old, new).norm_ratio == pytest.approx(math.sqrt(1 - cosine**2))


def test_points_are_centred_not_the_numbers_of_each_point():
    """The authors' code takes the mean over features: an offset would then look like a change."""
    old = drawn(6, 3)
    assert rescaling(old, 2 * old + torch.tensor([5.0, 0.0, -1.0])).norm_ratio == pytest.approx(0, abs=1e-9)


def test_no_change_and_a_single_point_give_nan():
    same = drawn(4, 2)
    result = rescaling(same, same)
    assert result.alpha == 1
    assert math.isnan(result.norm_ratio)
    assert all(math.isnan(value) for value in rescaling(torch.ones(4, 2), same))


def test_refuses_different_shapes():
    with pytest.raises(ValueError, match=r"one shape, got \(4, 2\) and \(3, 2\)"):
        rescaling(drawn(4, 2), drawn(3, 2))


# --- over checkpoints -------------------------------------------------------------------------------


def factors(proper, total):
    """As many values below 1 as are proper, of a total."""
    return torch.cat([torch.full((proper,), 0.5), torch.full((total - proper,), 2.0)])


@pytest.mark.parametrize(
    ("shares", "bound"),
    [((0.87, 0.95667), (0, 1e-7)), ((0.63667, 0.80833), (0, 1e-10)), ((0.96833, 0.995), (0.00076, 0.00078))],
)
def test_the_printed_p_values_of_fisher(shares, bound):
    """Kim, paper II, Table 3: the two ProtoNets of 600 checkpoints each."""
    result = compare_checkpoints(*(factors(round(600 * share), 600) for share in shares), proper="below 1")
    assert (result.first_proper, result.second_proper) == pytest.approx(shares, abs=1e-5)
    assert bound[0] < result.fisher < bound[1]


def test_mann_whitney_by_its_definition_for_few_values():
    """All 20 ways to rank three against three: U of 0 or 9 has probability 2 / 20."""
    result = compare_checkpoints([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], proper="above 1")
    assert result.mann_whitney == pytest.approx(0.1)
    assert (result.first_proper, result.second_proper) == pytest.approx((2 / 3, 1))
    alone = compare_checkpoints([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], proper=None)
    assert alone == (result.first_mean, result.second_mean, None, None, result.mann_whitney, None)
    assert (result.first_mean, result.second_mean) == pytest.approx((6 ** (1 / 3), 120 ** (1 / 3)))


@pytest.mark.parametrize("wrong", [[], [1.0, 0.0], [1.0, math.nan], [[1.0]]])
def test_refuses_factors_that_are_not_positive(wrong):
    with pytest.raises(ValueError, match="expected other"):
        compare_checkpoints([1.0], wrong, proper="below 1")


def test_refuses_an_unknown_proper_side():
    with pytest.raises(ValueError, match='got "below"'):
        compare_checkpoints([1.0], [1.0], proper="below")


# --- one step of training ---------------------------------------------------------------------------


def a_step(*, labels, seed=0):
    """Embeddings before and after, with one support item first and last of each class."""
    old = drawn(len(labels), 3, seed=seed)
    return old, 1.1 * old + 0.2 * drawn(len(labels), 3, seed=seed + 1), torch.tensor(labels)


def by_definition(old, new, labels, support, *, nearest):
    """Query by query and class by class; of several examples the one nearest before is looked at again."""
    own, other, whole = [], [], rescaling(old, new)
    for query in (~support).nonzero().flatten().tolist():
        for label in set(labels[support].tolist()):
            rows = support & (labels == label)
            before, after = (z[rows] if nearest else z[rows].mean(0, keepdim=True) for z in (old, new))
            away = [math.sqrt(float((old[query] - vector).square().sum()) + 1e-10) for vector in before]
            place = away.index(min(away))
            now = math.sqrt(float((new[query] - after[place]).square().sum()) + 1e-10)
            (own if label == int(labels[query]) else other).append(math.log(now / away[place]))
    con, div = (math.exp(sum(part) / len(part)) for part in (own, other))
    return [whole.norm_ratio, con / whole.alpha, div / whole.alpha, con / div]


LABELS = [7, 7, 7, 7, 3, 3, 3, 3, 900, 900, 900, 900]
SUPPORT = torch.tensor([True, False, False, True] * 3)


@pytest.mark.parametrize("nearest", [False, True])
@given(seed=st.integers(0, 10**6), order=st.permutations(range(12)))
@effort(max_examples=15, deadline=None)
def test_a_step_is_rescaling_and_motion(nearest, seed, order):
    """Whatever the order of the items and the numbers of the classes."""
    old, new, labels = (tensor[list(order)] for tensor in a_step(labels=LABELS, seed=seed))
    support = SUPPORT[list(order)]
    dynamics = step_dynamics(old, new, labels, support, nearest=nearest).tolist()
    assert dynamics == pytest.approx(by_definition(old, new, labels, support, nearest=nearest))


@pytest.mark.parametrize("nearest", [False, True])
def test_queries_meet_the_classes_of_their_own_episode(nearest):
    """Two tasks in one step, with a class in common: the mean over both tasks, of equal size."""
    old, new, labels = a_step(labels=LABELS + [3] * 4 + [5] * 4 + [6] * 4)
    support, episodes = SUPPORT.repeat(2), torch.arange(2).repeat_interleave(12)
    alpha = rescaling(old, new).alpha
    dynamics = step_dynamics(old, new, labels, support, episodes=episodes, nearest=nearest)
    logarithms = torch.zeros(2, dtype=torch.double)
    for part in (slice(0, 12), slice(12, 24)):
        parts = old[part], new[part], labels[part], support[part]
        own_alpha = rescaling(*parts[:2]).alpha
        _, con, div, _ = step_dynamics(*parts, nearest=nearest)
        logarithms += torch.stack([con * own_alpha / alpha, div * own_alpha / alpha]).log() / 2
    torch.testing.assert_close(dynamics[1:3], logarithms.exp())
    assert dynamics[3] == pytest.approx(float(dynamics[1] / dynamics[2]))


def test_equal_support_items_count_as_one():
    """A picture that is there twice: both are nearest."""
    old, new, labels = a_step(labels=[0, 0, 0, 1, 1, 2, 2])
    support = torch.tensor([True, True, False, True, False, True, False])
    old[1], new[1] = old[0], new[0]
    once = [0, 2, 3, 4, 5, 6]
    twice = step_dynamics(old, new, labels, support, nearest=True)
    alone = step_dynamics(old[once], new[once], labels[once], support[once], nearest=True)
    torch.testing.assert_close(twice[3], alone[3])


def test_a_rescaled_space_has_not_moved():
    old, _, labels = a_step(labels=LABELS)
    assert step_dynamics(old, 4 * old, labels, SUPPORT)[1:].tolist() == pytest.approx([1, 1, 1])


def test_a_query_on_its_prototype_stays_finite():
    old, labels = torch.tensor([[0.0], [0.0], [1.0], [2.0]]), torch.tensor([0, 0, 1, 1])
    support = torch.tensor([True, False, True, False])
    moved = step_dynamics(old, old + torch.tensor([[0.0], [1.0], [0.0], [0.0]]), labels, support)
    assert moved.isfinite().all()


def test_what_is_undefined_in_a_step_is_nan():
    old, new, labels = a_step(labels=LABELS)
    assert step_dynamics(old, old, labels, SUPPORT).tolist() == pytest.approx(
        [math.nan, 1, 1, 1], nan_ok=True
    )
    assert step_dynamics(old, new, labels, torch.ones(12, dtype=torch.bool))[1:].isnan().all()
    assert step_dynamics(old, -old, labels, SUPPORT).isnan().tolist() == [False, True, True, False]
    alone = step_dynamics(old, new, torch.zeros_like(labels), SUPPORT)
    assert alone.isnan().tolist() == [False, False, True, True]


def test_a_query_without_a_support_item_of_its_class_counts_for_the_others():
    old, new, labels = a_step(labels=[0, 0, 1, 1, 2])
    support = torch.tensor([True, False, True, False, False])
    dynamics = step_dynamics(old, new, labels, support)
    alone = step_dynamics(old[:4], new[:4], labels[:4], support[:4])
    alphas = rescaling(old, new).alpha / rescaling(old[:4], new[:4]).alpha
    assert float(dynamics[1]) == pytest.approx(float(alone[1]) / alphas)
    assert float(dynamics[2]) != pytest.approx(float(alone[2]) / alphas)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"new": torch.ones(5, 3)}, r"one shape \(n, d\), got \(12, 3\) and \(5, 3\)"),
        ({"labels": torch.ones(12)}, "whole numbers"),
        ({"support": torch.ones(12)}, r"support of shape \(12,\), true or false for each item"),
        ({"episodes": torch.ones(3, dtype=torch.long)}, "one label an item"),
    ],
)
def test_a_step_of_the_wrong_shape_is_refused(change, says):
    old, new, labels = a_step(labels=LABELS)
    with pytest.raises(ValueError, match=says):
        step_dynamics(**{"old": old, "new": new, "labels": labels, "support": SUPPORT, **change})
