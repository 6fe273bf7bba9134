"""k-means against scikit-learn, a loop anyone can check by eye, and what every step of it promises."""

import doctest
import importlib

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from samekind.data import clusters
from samekind.errors import SettingError
from samekind.inference.kmeans import kmeans

module = importlib.import_module("samekind.inference.kmeans")


def drawn(items=60, dimension=3, seed=0, dtype=torch.double):
    return torch.randn(items, dimension, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def lloyd_by_hand(z, centres, rounds):
    """The definition: every item to every centre, each round."""
    centres = centres.clone()
    for _ in range(rounds):
        assigned = torch.cdist(z, centres).argmin(1)
        for group in range(len(centres)):
            centres[group] = z[assigned == group].mean(0)
    return torch.cdist(z, centres).argmin(1), centres


@pytest.mark.parametrize("rounds", [1, 2, 5, 30])
@pytest.mark.parametrize(("items", "groups"), [(60, 5), (200, 12)])
def test_every_round_is_lloyd_s(items, groups, rounds):
    z = drawn(items)
    result = kmeans(z, groups=groups, start=z[:groups], rounds=rounds)
    assigned, centres = lloyd_by_hand(z, z[:groups], result.rounds)
    assert torch.equal(result.assigned, assigned)
    torch.testing.assert_close(result.centres, centres)
    assert result.inertia == pytest.approx(float((z - centres[assigned]).square().sum()))
    assert result.settled or result.rounds == rounds


@pytest.mark.parametrize("seed", range(4))
def test_from_one_start_scikit_learn_arrives_at_the_same_groups(seed):
    z = drawn(150, 4, seed)
    start = z[:8]
    result = kmeans(z, groups=8, start=start, rounds=300)
    expected = KMeans(8, init=start.numpy(), n_init=1, max_iter=300, tol=0, algorithm="lloyd").fit(z.numpy())
    assert result.assigned.tolist() == expected.labels_.tolist()
    torch.testing.assert_close(result.centres, torch.from_numpy(expected.cluster_centers_))
    assert result.inertia == pytest.approx(expected.inertia_)
    assert result.settled


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 12), st.sampled_from(["k-means++", "random"]))
def test_the_inertia_never_rises_and_every_item_is_with_the_nearest_centre(seed, groups, start):
    z = drawn(40, 2, seed)
    previous = None
    for rounds in range(1, 8):
        result = kmeans(z, groups=groups, start=start, rounds=rounds, seed=seed)
        assert previous is None or result.inertia <= previous * (1 + 1e-12)
        previous = result.inertia
        distances = torch.cdist(z, result.centres)
        nearest = distances.gather(1, result.assigned[:, None]).squeeze(1)
        torch.testing.assert_close(nearest, distances.amin(1))


def test_blocks_and_strips_do_not_change_the_groups(monkeypatch):
    z = drawn(90, 5)
    whole = kmeans(z, groups=20, seed=3)
    monkeypatch.setattr(module, "STRIP", 7)
    monkeypatch.setattr(module, "PAIRS", {"cpu": 30, "other": 30})
    parts = kmeans(z, groups=20, seed=3)
    assert torch.equal(whole.assigned, parts.assigned)
    torch.testing.assert_close(whole.centres, parts.centres)


def test_no_table_of_all_items_and_groups_is_held(monkeypatch):
    """4,000 items and 1,000 groups: of the 4 million distances a thousandth is computed at a time."""
    monkeypatch.setattr(module, "STRIP", 4)
    monkeypatch.setattr(module, "PAIRS", {"cpu": 4000, "other": 4000})
    sizes = []
    multiply = torch.addmm

    def watched(*arguments, **options):
        result = multiply(*arguments, **options)
        sizes.append(result.numel())
        return result

    monkeypatch.setattr(torch, "addmm", watched)
    kmeans(drawn(4000, 2), groups=1000, start="random", rounds=1)
    assert max(sizes) == 4000


def test_clear_groups_are_found_from_careful_starts():
    items = clusters(classes=20, items=10, dimension=8, spread=0.02)
    result = kmeans(items.inputs, groups=20)
    assert adjusted_rand_score(items.labels, result.assigned) == 1


def test_an_emptied_group_starts_again_from_the_item_furthest_from_its_centre():
    z = torch.tensor([[0.0], [1.0], [10.0], [11.0], [30.0]])
    start = torch.tensor([[0.0], [12.0], [1000.0]])  # the last one is nobody's nearest
    result = kmeans(z, groups=3, start=start)
    assert result.assigned.tolist() == [0, 0, 1, 1, 2]
    assert result.centres.flatten().tolist() == [0.5, 10.5, 30.0]


def test_fewer_distinct_items_than_groups_leave_some_empty():
    z = torch.tensor([[0.0, 1.0]] * 4 + [[5.0, 5.0]] * 3)
    for start in ("k-means++", "random"):
        result = kmeans(z, groups=5, start=start)
        assert result.assigned.bincount(minlength=5).count_nonzero() == 2
        assert result.inertia == pytest.approx(0, abs=1e-9)
        assert result.settled
        assert result.centres.isfinite().all()


def test_more_restarts_never_do_worse_and_seeds_repeat():
    z = drawn(80, 4)
    inertias = [kmeans(z, groups=9, start="random", restarts=value).inertia for value in (1, 2, 4, 8)]
    assert sorted(inertias, reverse=True) == inertias
    assert inertias[-1] < inertias[0]
    one, two = (kmeans(z, groups=9, seed=5) for _ in range(2))
    assert torch.equal(one.assigned, two.assigned)
    assert torch.equal(one.centres, two.centres)


def test_digits_are_kept_far_from_the_origin():
    z = drawn(50, 2, dtype=torch.float32)
    near, far = kmeans(z, groups=4), kmeans(z + 1024, groups=4)
    assert adjusted_rand_score(near.assigned, far.assigned) == 1
    torch.testing.assert_close(near.centres, far.centres - 1024, atol=1e-3, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_centres_have_the_items_type_and_gradients_are_not_followed(dtype):
    z = drawn(20, 2).to(dtype).requires_grad_()
    result = kmeans(z, groups=3)
    assert result.centres.dtype == dtype
    assert not result.centres.requires_grad
    assert result.assigned.dtype == torch.int64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": 0}, "asked for 0 groups of 9 items; ask for 1 to 9"),
        ({"groups": 10}, "asked for 10 groups of 9 items; ask for 1 to 9"),
        ({"rounds": 0}, "expected at least one round and one restart, got 0 and 1"),
        ({"restarts": 0}, "expected at least one round and one restart, got 100 and 0"),
        ({"start": "kmeans"}, 'expected start "k-means\\+\\+", "random" or the centres, got "kmeans"'),
        ({"start": torch.zeros(3, 1)}, r"of shape \(2, 3\), got \(3, 1\)"),
        ({"start": torch.zeros(2, 3), "restarts": 2}, "expected 1 restart with given centres, got 2"),
    ],
)
def test_refuses_impossible_settings(change, message):
    with pytest.raises(SettingError, match=message):
        kmeans(drawn(9), **{"groups": 2, **change})


def test_refuses_items_that_cannot_be_grouped():
    with pytest.raises(SettingError, match=r"of shape \(n, d\) to group, got \(9,\)"):
        kmeans(drawn(9)[:, 0], groups=2)
    with pytest.raises(SettingError, match="an embedding is not finite"):
        kmeans(drawn(9) / 0, groups=2)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
