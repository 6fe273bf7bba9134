"""Novelty by classes, by neighbours and by a one-class machine, each against the plain way."""

import pytest
import torch
from sklearn.svm import OneClassSVM

from samekind.encoders import MLP
from samekind.errors import DataError, SettingError, SpaceError
from samekind.inference import neighbour_novelty, one_class_novelty, prototype_novelty
from samekind.inference.kernels import kernel_matrix
from samekind.measures import novelty_auroc
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Cosine, Dot, Euclidean, PairsNetwork
from samekind.space import MetricSpace


def a_space(similarity=None, prototypes=None):
    torch.manual_seed(0)
    similarity = similarity or PairsNetwork(dimension=3, hidden=8)
    prototypes = prototypes or SupportMeans(["x", "y"], dimension=3)
    space = MetricSpace(MLP(inputs=2, dimension=3, hidden=[4]), similarity, prototypes)
    if not prototypes.trained:
        prototypes.assign(["x", "y"], torch.tensor([[[2.0, 0.0, 0.0]], [[0.0, 2.0, 0.0]]]))
    return space.eval()


def embeddings(count, seed, shift=0.0):
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(seed)) + shift


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_by_classes_it_is_minus_the_best_score_prototype_first(kind, memory_budget):
    space, z = a_space(), embeddings(6, 0)
    result = prototype_novelty(space, z, kind=kind)
    with torch.no_grad():
        for item, value in zip(z, result, strict=True):
            scores = [
                space.score(vector, item[None], kind=kind).item() for vector in space.prototypes.vectors
            ]
            assert value.item() == pytest.approx(-max(scores), abs=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "max", "soft"])
def test_several_vectors_of_a_class_are_pooled_as_the_space_does(pooling):
    space = a_space(prototypes=LearnedProxies(["x", "y"], dimension=3, count=4, pooling=pooling))
    z = embeddings(6, 0)
    with torch.no_grad():
        expected = -space.score_classes(z).max(1).values
    torch.testing.assert_close(prototype_novelty(space, z), expected)


def test_refuses_a_space_without_classes():
    with pytest.raises(SpaceError, match="knows no class yet"):
        prototype_novelty(
            MetricSpace(MLP(inputs=2, dimension=3, hidden=[]), Cosine(), SupportMeans(dimension=3)),
            embeddings(2, 0),
        )


def test_by_neighbours_it_is_minus_the_mean_of_the_best_query_first():
    space, z, known = a_space(), embeddings(4, 0), embeddings(7, 1)
    result = neighbour_novelty(space, z, known, neighbours=3)
    with torch.no_grad():
        for item, value in zip(z, result, strict=True):
            scores = sorted((space.score(item[None], entry[None]).item() for entry in known), reverse=True)
            assert value.item() == pytest.approx(-sum(scores[:3]) / 3, abs=1e-5)


def test_a_known_item_is_not_new_at_all_by_a_distance():
    space, known = a_space(Euclidean()), embeddings(5, 1)
    assert neighbour_novelty(space, known, known).abs().max() < 1e-5


def test_on_a_kernel_that_is_semidefinite_it_is_scikit_learns_machine():
    space, z, known = a_space(Dot()), embeddings(6, 0, shift=0.5), embeddings(20, 1, shift=1.0)
    machine = OneClassSVM(kernel="linear", nu=0.2).fit(known.double().numpy())
    expected = -torch.from_numpy(machine.decision_function(z.double().numpy())).float()
    for spectrum in ("clip", "shift"):
        result = one_class_novelty(space, z, known, form="score", outliers=0.2, spectrum=spectrum)
        torch.testing.assert_close(result, expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("count", [4, 25])  # fewer known items than the tenth nearest, and more
def test_the_gaussian_of_a_distance_is_scikit_learns_machine_too(count):
    space, z, known = a_space(Euclidean()), embeddings(6, 0), embeddings(count, 1)
    away = torch.cdist(known, known).double()
    width = torch.stack([row.sort().values[min(10, count - 1)] for row in away]).median()
    machine = OneClassSVM(kernel="rbf", gamma=1 / (2 * float(width) ** 2), nu=0.2).fit(known.double().numpy())
    expected = -torch.from_numpy(machine.decision_function(z.double().numpy())).float()
    torch.testing.assert_close(
        one_class_novelty(space, z, known, outliers=0.2), expected, atol=2e-3, rtol=1e-2
    )


def test_between_the_known_classes_is_new_for_the_gaussian_and_not_for_the_score():
    """Two classes on the axes; their middle is the deepest place of the half-space around both."""
    space, known = a_space(Dot()), torch.eye(3)[:2].repeat(20, 1) + 0.05 * embeddings(40, 1)
    asked = torch.cat([torch.eye(3)[:2], torch.tensor([[0.7, 0.7, 0.0]])])
    score = one_class_novelty(space, asked, known, form="score", outliers=0.5)
    assert score[2] < score[:2].min()
    gaussian = one_class_novelty(a_space(Cosine()), asked, known)
    assert gaussian[2] > 0 > gaussian[:2].max()


def test_known_items_that_are_copies_of_one_another_still_have_a_width():
    space, known = a_space(Euclidean()), torch.zeros(15, 3)
    copies = one_class_novelty(space, torch.eye(3)[:1], known)
    known[0] = 1
    almost = one_class_novelty(space, torch.eye(3)[:1], known)
    assert copies.isfinite().all()
    assert almost.isfinite().all()


@pytest.mark.parametrize("spectrum", ["clip", "shift"])
def test_a_share_of_the_known_items_lies_outside(spectrum):
    """ν is the share of outliers at most, apart from those on the border."""
    space, known = a_space(), embeddings(60, 1)
    assert torch.linalg.eigvalsh(kernel_matrix(space, known))[0] < -1e-6
    for outliers in (0.1, 0.4):
        result = one_class_novelty(space, known, known, outliers=outliers, spectrum="clip")
        assert (result > 1e-4).double().mean() <= outliers + 1e-9
        assert one_class_novelty(space, known, known, outliers=outliers, spectrum=spectrum).isfinite().all()


def test_an_unseen_class_is_newer_than_the_known_ones():
    space = a_space(Cosine())
    known = torch.cat([embeddings(30, 1) * 0.2 + torch.eye(3)[0], embeddings(30, 2) * 0.2 + torch.eye(3)[1]])
    asked = torch.cat([known[::3], embeddings(20, 3) * 0.2 - torch.eye(3)[0]])
    is_new = torch.arange(40) >= 20
    for newness in (
        prototype_novelty(space, asked),
        neighbour_novelty(space, asked, known[1::3]),
        one_class_novelty(space, asked, known[1::3]),
    ):
        assert novelty_auroc(newness, is_new).low > 0.85


def test_more_known_items_than_wanted_are_drawn_by_the_seed():
    space, z, known = a_space(), embeddings(5, 0), embeddings(40, 1)
    one, again, other = (one_class_novelty(space, z, known, most_items=10, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_nothing_asked_is_nothing_answered():
    space = a_space()
    for answer in (
        prototype_novelty(space, embeddings(0, 0)),
        one_class_novelty(space, embeddings(0, 0), embeddings(5, 1)),
        neighbour_novelty(space, embeddings(0, 0), embeddings(5, 1)),
    ):
        assert answer.shape == (0,)


def test_refuses_impossible_questions():
    space = a_space()
    with pytest.raises(SettingError, match="above 0 and at most 1; got 0"):
        one_class_novelty(space, embeddings(2, 0), embeddings(5, 1), outliers=0)
    with pytest.raises(SettingError, match='"gaussian" or "score"; got "rbf"'):
        one_class_novelty(space, embeddings(2, 0), embeddings(5, 1), form="rbf")
    with pytest.raises(DataError, match="two known items or more; got 1"):
        one_class_novelty(space, embeddings(2, 0), embeddings(1, 1))
    with pytest.raises(SpaceError, match="not finite"):
        one_class_novelty(space, torch.full((2, 3), torch.nan), embeddings(5, 1))
