"""Metric axioms of a space: distances by hand for every kind of score, and the options."""

import pytest
import torch

from samekind import similarities
from samekind.encoders import MLP
from samekind.errors import DataError, SettingError, SpaceError
from samekind.inference import metric_axioms
from samekind.inference.axioms import score_distances
from samekind.measures import metric_breaches
from samekind.prototypes import SupportMeans
from samekind.similarities import Angle, Cosine, Euclidean, LogDistance, PairsNetwork, SquaredEuclidean
from samekind.space import MetricSpace


def a_space(similarity=None):
    torch.manual_seed(0)
    similarity = similarity or PairsNetwork(dimension=3, hidden=8)
    return MetricSpace(MLP(inputs=2, dimension=3, hidden=[4]), similarity, SupportMeans(dimension=3)).eval()


def embeddings(count=9, seed=0):
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("order", ["one", "mean", "max"])
def test_a_learned_score_becomes_the_probability_of_two_kinds(order, memory_budget):
    space, z = a_space(), embeddings(6)
    with torch.no_grad():
        score = [[space.score(a[None], b[None]).double().item() for b in z] for a in z]
    both = {"one": lambda a, b: a, "mean": lambda a, b: (a + b) / 2, "max": max}[order]
    logits = torch.tensor([[both(score[i][j], score[j][i]) for j in range(6)] for i in range(6)])
    expected = metric_breaches(1 - logits.double().sigmoid())
    result = metric_axioms(space, z, order=order)
    for one, other in zip(result, expected, strict=True):
        assert one[:5] == pytest.approx(other[:5], abs=1e-6)
    assert (result.asymmetry.most == 0) == (order != "one")


def test_what_is_a_metric_is_found_to_be_one():
    for similarity in (Euclidean(), Angle()):
        result = metric_axioms(a_space(similarity), embeddings())
        assert [value.most for value in result] == pytest.approx([0, 0, 0], abs=1e-3)


def test_a_squared_distance_and_a_cosine_break_the_triangle_alone():
    for similarity in (SquaredEuclidean(), Cosine()):
        result = metric_axioms(a_space(similarity), embeddings(20))
        assert result.self_distance.most == pytest.approx(0, abs=1e-5)
        assert result.asymmetry.most == pytest.approx(0, abs=1e-5)
        assert result.triangle.most > 0.05


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_every_similarity_has_a_distance_that_falls_as_its_score_rises(name):
    similarity = getattr(similarities, name)
    quantity = similarity.quantity
    scores = torch.linspace(-0.9, 0 if "distance" in quantity else 0.9, 7)
    distances = score_distances(scores, quantity)
    assert (distances.diff() < 0).all()
    assert (distances >= 0).all()


def test_distances_that_were_negated_come_back():
    z = embeddings(4)
    for similarity in (Euclidean(), LogDistance()):
        scores = similarity.score_all(z, z).double()
        torch.testing.assert_close(
            score_distances(scores, similarity.quantity), torch.cdist(z, z).double(), atol=1e-4, rtol=1e-4
        )


def test_of_many_items_some_are_drawn_by_the_seed():
    space, z = a_space(), embeddings(30)
    one, again, other = (metric_axioms(space, z, most_items=10, seed=seed) for seed in (0, 0, 1))
    assert one.self_distance.cases == 10
    assert (one.asymmetry.cases, one.triangle.cases) == (45, 720)
    assert one.triangle.mean == again.triangle.mean
    assert one.self_distance.mean != other.self_distance.mean
    assert metric_axioms(space, z, most_triples=100).triangle.cases == 100


def test_kinds_of_score_and_mode():
    space = a_space().train()
    result = {kind: metric_axioms(space, embeddings(), kind=kind).self_distance.mean for kind in space.kinds}
    assert result["cosine"] == pytest.approx(0, abs=1e-6)
    assert len(set(result.values())) == 3
    assert space.training


def test_refuses_impossible_questions():
    space = a_space()
    with pytest.raises(SettingError, match='"one", "mean" or "max"; got "both"'):
        metric_axioms(space, embeddings(), order="both")
    with pytest.raises(DataError, match="three items or more; got 2"):
        metric_axioms(space, embeddings(2))
    with pytest.raises(SpaceError, match="not finite"):
        metric_axioms(space, torch.full((4, 3), torch.nan))
    with pytest.raises(SettingError, match='"odds"'):
        score_distances(torch.ones(2), "odds")
