"""Groups of embeddings against scikit-learn and against what can be seen by eye."""

import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from samekind.data import clusters
from samekind.errors import SettingError
from samekind.inference import cluster

ITEMS = clusters(classes=3, items=8, dimension=4, spread=0.05)


def test_clear_groups_are_found_with_their_means_as_centres():
    found = cluster(ITEMS.inputs, groups=3)
    assert adjusted_rand_score(ITEMS.labels, found.assigned) == 1
    assert found.centres.shape == (3, 4)
    for group in range(3):
        torch.testing.assert_close(found.centres[group], ITEMS.inputs[found.assigned == group].mean(0))


@pytest.mark.parametrize(("groups", "restarts", "seed"), [(2, 1, 0), (4, 3, 1), (5, 10, 2)])
def test_agrees_with_scikit_learn(groups, restarts, seed):
    z = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    found = cluster(z, groups=groups, restarts=restarts, seed=seed)
    expected = KMeans(n_clusters=groups, n_init=restarts, random_state=seed).fit(z.double().numpy())
    assert found.assigned.tolist() == expected.labels_.tolist()
    torch.testing.assert_close(found.centres.double(), torch.from_numpy(expected.cluster_centers_))


def test_every_item_is_in_the_group_with_the_nearest_centre():
    z = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    found = cluster(z, groups=4)
    for item, group in zip(z, found.assigned.tolist(), strict=True):
        assert group == int((item - found.centres).norm(dim=1).argmin())


def test_the_same_seed_finds_the_same_groups_and_types_are_kept():
    first, second = (cluster(ITEMS.inputs.double(), groups=5, seed=3) for _ in range(2))
    assert torch.equal(first.assigned, second.assigned)
    assert first.assigned.dtype == torch.int64
    assert first.centres.dtype == torch.double


def test_one_group_holds_all_and_as_many_groups_as_items_one_each():
    assert cluster(ITEMS.inputs, groups=1).assigned.unique().tolist() == [0]
    assert sorted(cluster(ITEMS.inputs[:5], groups=5).assigned.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("groups", [0, -1, 25])
def test_groups_that_cannot_be_are_refused(groups):
    with pytest.raises(SettingError, match=f"asked for {groups} groups of 24 items; ask for 1 to 24"):
        cluster(ITEMS.inputs, groups=groups)
