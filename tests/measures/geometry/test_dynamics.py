"""Training dynamics against loops, in the cases where the answer is known, and the thesis's own p-values."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from samekind.measures.geometry import (
    ClassMotion,
    class_motion,
    compare_checkpoints,
    proper_cases,
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


# --- motion -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectors", [1, 3])
@pytest.mark.parametrize("alpha", [None, 1.3])
def test_motion_is_the_loop(vectors, alpha):
    """Own and other classes apart; of several vectors the one nearest before is looked at again after."""
    old, labels = drawn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    new = 1.2 * old + 0.3 * drawn(5, 3, seed=1)
    before, after = drawn(3, vectors, 3, seed=2), drawn(3, vectors, 3, seed=3)
    own, other = [], []
    for query in range(5):
        for label in range(3):
            away = [math.sqrt(float((old[query] - p).square().sum()) + 1e-10) for p in before[label]]
            nearest = away.index(min(away))
            now = math.sqrt(float((new[query] - after[label][nearest]).square().sum()) + 1e-10)
            (own if label == labels[query] else other).append(math.log(now / away[nearest]))
    con, div = math.exp(sum(own) / len(own)), math.exp(sum(other) / len(other))
    factor = alpha or rescaling(old, new).alpha
    result = class_motion(old, new, labels, old_prototypes=before, new_prototypes=after, alpha=alpha)
    assert result == pytest.approx((con / factor, div / factor, con / div))


def test_a_rescaled_space_has_not_moved():
    old, labels, prototypes = drawn(5, 3), torch.tensor([0, 1, 2, 1, 0]), drawn(3, 1, 3, seed=2)
    moved = class_motion(old, 4 * old, labels, old_prototypes=prototypes, new_prototypes=4 * prototypes)
    assert moved == pytest.approx((1, 1, 1))


def test_a_query_on_its_prototype_stays_finite():
    old, prototypes = torch.tensor([[0.0], [2.0]]), torch.tensor([[[0.0]], [[1.0]]])
    moved = class_motion(
        old, old + 1, torch.tensor([0, 1]), old_prototypes=prototypes, new_prototypes=prototypes, alpha=1
    )
    assert all(math.isfinite(value) and value > 0 for value in moved)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"old_prototypes": torch.ones(2, 3)}, r"expected prototypes \(classes, k, 3\)"),
        ({"new_prototypes": torch.ones(2, 2, 3)}, r"expected prototypes \(classes, k, 3\)"),
        ({"old_prototypes": torch.full((2, 1, 3), torch.nan)}, "finite prototypes"),
        ({"labels": torch.tensor([0, 1, 2])}, "labels from 0 to 1, rows of the prototypes, got 0 to 2"),
        ({"labels": torch.tensor([0, 1])}, "one label an item"),
        ({"alpha": 0.0}, "an alpha above 0"),
        ({"alpha": math.nan}, "an alpha above 0"),
    ],
)
def test_refuses_invalid_input(change, says):
    arguments = {
        "old": drawn(3, 3),
        "new": drawn(3, 3, seed=1),
        "labels": torch.tensor([0, 1, 1]),
        "old_prototypes": torch.ones(2, 1, 3),
        "new_prototypes": torch.ones(2, 1, 3),
        "alpha": 1.0,
    }
    with pytest.raises(ValueError, match=says):
        class_motion(**{**arguments, **change})


# --- over checkpoints -------------------------------------------------------------------------------


def test_at_one_nothing_is_proper():
    motions = [ClassMotion(1.0, 1.0, 1.0), ClassMotion(0.9, 1.1, 0.9), ClassMotion(1.1, 0.9, 1.1)]
    assert proper_cases(motions) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_refuses_empty_and_nan_motions():
    for wrong in ([], torch.ones(3, 2), [ClassMotion(1.0, math.nan, 1.0)]):
        with pytest.raises(ValueError, match="expected motions"):
            proper_cases(wrong)


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
    """The same from the functions that take prototypes."""
    classes = sorted(set(labels[support].tolist()))
    rows = [support & (labels == label) for label in classes]
    before, after = (
        torch.stack([z[row] if nearest else z[row].mean(0, keepdim=True) for row in rows]) for z in (old, new)
    )
    whole = rescaling(old, new)
    queries = torch.tensor([classes.index(label) for label in labels[~support].tolist()])
    moved = class_motion(
        old[~support], new[~support], queries, old_prototypes=before, new_prototypes=after, alpha=whole.alpha
    )
    return [whole.norm_ratio, *moved]


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
