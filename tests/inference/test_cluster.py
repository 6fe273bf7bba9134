"""Groups of embeddings against scikit-learn and against what can be seen by eye."""

import importlib
import inspect

import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from torch import nn

from samekind import similarities
from samekind.data import clusters
from samekind.errors import SettingError, SpaceError
from samekind.inference import cluster
from samekind.inference.cluster import as_compared, assign_by_similarity, choose_groups, oracle_centres
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Dot, Euclidean, LogDistance, SquaredEuclidean
from samekind.space import MetricSpace

module = importlib.import_module("samekind.inference.cluster")  # the package has the function by this name
ITEMS = clusters(classes=3, items=8, dimension=4, spread=0.05)


def a_space(similarity, dimension=3):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=dimension)).eval()


def a_similarity(name):
    torch.manual_seed(0)
    takes = inspect.signature(getattr(similarities, name)).parameters
    needed = {"dimension": 3} if "dimension" in takes else {}
    return getattr(similarities, name)(**needed)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "similarity",
    [
        *map(a_similarity, similarities.SIMILARITIES),
        *(value(normalise=True) for value in (Euclidean, LogDistance, SquaredEuclidean)),
    ],
    ids=lambda similarity: (
        f"{type(similarity).__name__}{', normalised' * getattr(similarity, 'normalise', False)}"
    ),
)
def test_k_means_gets_unit_vectors_if_the_similarity_ignores_lengths(similarity):
    """Which similarities these are is asked of their scores: a new one is covered by joining the room."""
    space, z = a_space(similarity), drawn(6, 3)
    longer = z * torch.arange(1, 7)[:, None]
    with torch.no_grad():
        for parameter in similarity.parameters():
            parameter.add_(0.1)  # as training might leave it: what begins at 0 has a say then
        length_counts = not torch.allclose(space.score_all(z, longer), space.score_all(z, z), atol=1e-4)
    seen = as_compared(space, longer)
    if length_counts:
        assert seen is longer
    else:
        torch.testing.assert_close(seen, as_compared(space, z))
        torch.testing.assert_close(seen.norm(dim=1), torch.ones(6))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_zero_embedding_gives_no_nan(dtype):
    """Before, in float16 it was not a number."""
    z = torch.tensor([[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]], dtype=dtype)
    seen = as_compared(a_space(Cosine()), z)
    torch.testing.assert_close(seen, torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.6, 0.8]], dtype=dtype))


def test_clear_groups_are_found_with_their_means_as_centres():
    result = cluster(ITEMS.inputs, groups=3)
    assert adjusted_rand_score(ITEMS.labels, result.assigned) == 1
    assert result.centres.shape == (3, 4)
    for group in range(3):
        torch.testing.assert_close(result.centres[group], ITEMS.inputs[result.assigned == group].mean(0))


@pytest.mark.parametrize("groups", [4, 12])
def test_is_as_good_as_scikit_learn(groups):
    """Where a start leads is each one's own luck, so the mean over some seeds is compared."""
    z, actual, expected = drawn(100, 3), 0.0, 0.0
    for seed in range(8):
        result = cluster(z, groups=groups, restarts=3, seed=seed)
        actual += float((z - result.centres[result.assigned]).square().sum())
        expected += KMeans(n_clusters=groups, n_init=3, random_state=seed).fit(z.double().numpy()).inertia_
    assert actual == pytest.approx(expected, rel=0.02)


def test_every_item_is_in_the_group_with_the_nearest_centre():
    z = drawn(40, 3)
    result = cluster(z, groups=4)
    for item, group in zip(z, result.assigned.tolist(), strict=True):
        assert group == int((item - result.centres).norm(dim=1).argmin())


def test_the_same_seed_finds_the_same_groups_and_types_are_kept():
    first, second = (cluster(ITEMS.inputs.double(), groups=5, seed=3) for _ in range(2))
    assert torch.equal(first.assigned, second.assigned)
    assert first.assigned.dtype == torch.int64
    assert first.centres.dtype == torch.double


def test_one_group_holds_all_and_as_many_groups_as_items_one_each():
    assert cluster(ITEMS.inputs, groups=1).assigned.unique().tolist() == [0]
    assert sorted(cluster(ITEMS.inputs[:5], groups=5).assigned.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("groups", "asked", "start", "restarts"),
    [(5, None, "k-means++", 10), (6, None, "random", 1), (5, 2, "k-means++", 2), (6, 2, "random", 2)],
)
def test_many_groups_get_one_run_from_random_items(monkeypatch, groups, asked, start, restarts):
    calls = []
    kmeans = module.kmeans
    monkeypatch.setattr(module, "MANY_GROUPS", 5)
    monkeypatch.setattr(module, "kmeans", lambda z, **options: calls.append(options) or kmeans(z, **options))
    cluster(ITEMS.inputs, groups=groups, restarts=asked)
    assert calls == [{"groups": groups, "start": start, "restarts": restarts, "seed": 0}]


@pytest.mark.parametrize("groups", [0, -1, 25])
def test_refuses_an_impossible_number_of_groups(groups):
    with pytest.raises(SettingError, match=f"asked for {groups} groups of 24 items; ask for 1 to 24"):
        cluster(ITEMS.inputs, groups=groups)


@pytest.mark.parametrize("memory_budget", [1, 100, 10**6], indirect=True)
@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_items_go_to_the_most_similar_centre_the_first_argument(name, memory_budget):
    space, centres, z = a_space(a_similarity(name)), drawn(5, 3), drawn(12, 3, seed=1)
    for kind in space.kinds:
        result = assign_by_similarity(space, centres, z, kind=kind)
        with torch.no_grad():
            scores = [[float(space.score(c[None], item[None], kind=kind)) for c in centres] for item in z]
        assert result.tolist() == [row.index(max(row)) for row in scores]


def test_with_distances_and_centres_of_k_means_it_is_the_assignment_of_k_means():
    z = drawn(50, 3)
    result = cluster(z, groups=6)
    assert torch.equal(assign_by_similarity(a_space(Euclidean()), result.centres, z), result.assigned)


def test_equally_similar_centres_go_to_the_first(memory_budget):
    space, z = a_space(Dot()), drawn(4, 3)
    assert assign_by_similarity(space, torch.zeros(3, 3), z).tolist() == [0, 0, 0, 0]
    assert assign_by_similarity(space, torch.zeros(3, 3), z[:0]).tolist() == []
    with pytest.raises(SpaceError, match="expected at least one centre"):
        assign_by_similarity(space, torch.empty(0, 3), z)


def test_oracle_centres_are_the_means_of_the_true_classes():
    z, labels = drawn(9, 3), torch.tensor([7, 2, 7, 2, 9, 9, 7, 2, 2])
    centres = oracle_centres(z, labels)
    for row, label in enumerate([2, 7, 9]):
        torch.testing.assert_close(centres[row], z[labels == label].mean(0))
    with pytest.raises(SettingError, match="got 9 and 8"):
        oracle_centres(z, labels[:-1])


def test_the_number_of_clear_groups_is_chosen():
    items = clusters(classes=4, items=10, dimension=6, spread=0.02)
    choice = choose_groups(items.inputs, candidates=range(2, 8))
    assert choice.groups == 4
    assert list(choice.silhouettes) == [2, 3, 4, 5, 6, 7]
    result = cluster(items.inputs, groups=4)
    expected = silhouette_score(items.inputs.numpy(), result.assigned.numpy())
    assert choice.silhouettes[4] == pytest.approx(expected, abs=1e-6)


def test_of_many_items_a_part_is_looked_at_and_it_repeats():
    items = clusters(classes=3, items=60, dimension=4, spread=0.02)
    one, two = (choose_groups(items.inputs, candidates=(2, 3, 5), most_items=30, seed=4) for _ in range(2))
    assert one == two
    assert one.groups == 3
    whole = choose_groups(items.inputs, candidates=(2, 3, 5), seed=4)
    assert whole.silhouettes != one.silhouettes


def test_candidates_without_a_silhouette_are_left_out():
    z = torch.tensor([[0.0], [0.1], [5.0], [5.1]])
    choice = choose_groups(z, candidates=[9, 1, 4, 3, 2])
    assert (choice.groups, list(choice.silhouettes)) == (2, [2, 3])
    assert choose_groups(torch.ones(6, 2)) == (1, {})
    with pytest.raises(SettingError, match="expected a number of groups from 2 to 3 among the candidates"):
        choose_groups(z, candidates=[4])
    with pytest.raises(SettingError, match="expected at least one item"):
        choose_groups(z[:0])
