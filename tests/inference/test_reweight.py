"""Re-weighted directions: what becomes of embeddings and prototypes, and that an attack goes through."""

import pytest
import torch

from samekind.attacks import L2, PGD, Classes, Limits
from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import clusters
from samekind.encoders import MLP, Unchanged
from samekind.errors import SpaceError
from samekind.inference import embed, reweight
from samekind.prototypes import LearnedProxies, RunningAverages, SupportMeans
from samekind.similarities import Cosine, Dot, Euclidean, PairsNetwork
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def items():
    return clusters(classes=3, items=20, dimension=5, spread=0.6, seed=1)


def a_space(items, similarity=None, kind=SupportMeans, encoder=None):
    space = MetricSpace(
        encoder or Unchanged(inputs=5), similarity or Cosine(), kind(list(items.classes), dimension=5)
    )
    means = [items.inputs[items.labels == label].mean(0) for label in range(3)]
    space.prototypes.assign(list(items.classes), torch.stack(means)[:, None], [20] * 3)
    return space.eval()


def test_all_directions_are_alike_and_classes_stay_at_their_means(items):
    space = reweight(a_space(items), items, power=1.0)
    z = embed(space, items.inputs)
    covariance = torch.cov(z.T)
    torch.testing.assert_close(covariance, covariance.diagonal().mean() * torch.eye(5), atol=1e-4, rtol=1e-3)
    assert z.mean(0).abs().max() < 1e-4
    for label in range(3):
        torch.testing.assert_close(space.prototypes.vectors[label, 0], z[items.labels == label].mean(0))


@pytest.mark.parametrize("similarity", [Cosine(), Dot(), Euclidean()])
def test_power_zero_centres_alone(items, similarity):
    plain = a_space(items, similarity)
    z = embed(plain, items.inputs)
    other = reweight(plain, items, power=0.0)
    torch.testing.assert_close(embed(other, items.inputs), z - z.mean(0), atol=1e-5, rtol=1e-5)
    assert torch.equal(embed(plain, items.inputs), z)


@pytest.mark.parametrize("kind", [SupportMeans, RunningAverages, LearnedProxies])
def test_prototypes_keep_their_kind_and_counts(items, kind):
    plain = a_space(items, kind=kind)
    other = reweight(plain, items, power=0.5)
    assert type(other.prototypes) is kind
    assert (other.classes, other.prototypes.counts) == (plain.classes, plain.prototypes.counts)


def test_it_is_saved_loaded_and_attacked(items, tmp_path):
    torch.manual_seed(0)
    plain = a_space(items, encoder=MLP(inputs=5, dimension=5, hidden=(16,)))
    plain.prototypes.assign(
        plain.classes,
        torch.stack([embed(plain, items.inputs)[items.labels == label].mean(0) for label in range(3)])[
            :, None
        ],
        [20] * 3,
    )
    reweight(plain, items).save(tmp_path / "space")
    space = MetricSpace.load(tmp_path / "space")
    torch.testing.assert_close(embed(space, items.inputs), embed(reweight(plain, items), items.inputs))
    attacked = PGD(L2(3.0), steps=20)(Classes(space, items.labels), items.inputs.float(), limits=Limits())
    named = space.log_probabilities(space.embed(items.inputs.float())).argmax(1)
    assert (named == items.labels).float().mean() > 0.8
    assert attacked.succeeded.float().mean() > 0.5


def test_weights_for_embeddings_as_they_are_stand_in_the_way(items):
    with pytest.raises(SpaceError, match=r"PairsNetwork .* cannot be re-weighted"):
        reweight(a_space(items, PairsNetwork(dimension=5)), items)
    space = a_space(items)
    space.auxiliary = AuxiliaryHead(Dot(), LearnedProxies(list(items.classes), dimension=5))
    with pytest.raises(SpaceError, match="auxiliary head cannot be re-weighted"):
        reweight(space, items)
