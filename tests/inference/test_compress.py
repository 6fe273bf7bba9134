"""Shorter embeddings after training: what is kept, what is mapped, what is refused."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import Items
from samekind.encoders import MLP, Compressed, Unchanged
from samekind.encoders.foreign import Foreign
from samekind.errors import SpaceError
from samekind.inference import compress, embed
from samekind.inference.compress import directions
from samekind.parts import build, describe
from samekind.prototypes import EMAProxies, LearnedProxies, RunningAverages, SupportMeans
from samekind.similarities import Cosine, Dot, Euclidean, PairsNetwork
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def items():
    """Vectors of 6 numbers that lie in 2 directions, but for a little."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(40, 2, generator=draw) @ torch.randn(2, 6, generator=draw)
    inputs = inputs + 0.01 * torch.randn(40, 6, generator=draw)
    return Items(inputs, torch.arange(40) % 2, ("a", "b"), "vectors")


def a_space(similarity=None, prototypes=None, encoder=None):
    return MetricSpace(
        encoder or Unchanged(inputs=6), similarity or Cosine(), prototypes or SupportMeans(dimension=6)
    )


@pytest.mark.parametrize("shape", [(20, 5), (5, 20), (5, 5)])
def test_directions_are_those_of_the_singular_values(shape):
    z = torch.randn(*shape, generator=torch.Generator().manual_seed(1))
    rows = directions(z, dimension=3)
    torch.testing.assert_close(rows @ rows.T, torch.eye(3), atol=1e-6, rtol=0)
    reference = np.linalg.svd(z.double().numpy())[2][:3]
    assert np.abs((rows.double().numpy() * reference).sum(1)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("similarity", [Cosine(), Dot(), Euclidean(), Euclidean(normalise=True)])
def test_scores_stay_where_the_directions_hold_everything(items, similarity):
    space = a_space(similarity)
    short = compress(space, items, dimension=2)
    z, w = embed(space, items.inputs), embed(short, items.inputs)
    assert w.shape == (40, 2)
    torch.testing.assert_close(short.score_all(w, w), space.score_all(z, z), atol=0.1, rtol=0.05)


def test_lengths_do_not_choose_the_directions_of_cosines(items):
    far = Items(F.normalize(items.inputs), items.labels, items.classes, "unit")
    scaled = Items(far.inputs * torch.linspace(1, 9, 40)[:, None], items.labels, items.classes, "scaled")
    one, other = (compress(a_space(), items, dimension=2).encoder.embedding.matrix for items in (far, scaled))
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", [SupportMeans, RunningAverages, LearnedProxies, EMAProxies])
def test_prototypes_are_projected_like_items(items, kind):
    space = a_space(prototypes=kind(["a", "b"], dimension=6))
    space.prototypes.assign(["a", "b"], items.inputs[:2, None], [1, 5])
    short = compress(space, items, dimension=2)
    assert short.prototypes.counts == [1, 5]
    assert type(short.prototypes) is kind
    assert short.classes == ["a", "b"]
    torch.testing.assert_close(short.prototypes.vectors[:, 0], embed(short, items.inputs[:2]))


def test_it_is_saved_and_loaded(items, tmp_path):
    torch.manual_seed(0)
    space = a_space(encoder=MLP(inputs=6, dimension=6))
    short = compress(space, items, dimension=3)
    assert build(describe(short.encoder), room="encoders").dimension == 3
    short.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space")
    assert isinstance(again.encoder, Compressed)
    assert torch.equal(embed(again, items.inputs), embed(short, items.inputs))
    assert again.decisions == {}


def test_a_similarity_or_head_with_weights_is_refused(items):
    with pytest.raises(SpaceError, match="PairsNetwork has weights for embeddings of 6 numbers"):
        compress(a_space(PairsNetwork(dimension=6, hidden=4)), items, dimension=2)
    space = a_space()
    space.auxiliary = AuxiliaryHead(Cosine(), SupportMeans(dimension=6))
    with pytest.raises(SpaceError, match="auxiliary head cannot be compressed"):
        compress(space, items, dimension=2)
    with pytest.raises(SpaceError, match="6 numbers cannot be compressed to 64"):
        compress(a_space(), items)


def test_an_encoder_of_ones_own_is_given_without_the_projection(items, tmp_path):
    def mine():
        return Foreign(torch.nn.Linear(6, 5), feature_dimension=5)

    torch.manual_seed(0)
    space = a_space(prototypes=SupportMeans(dimension=5), encoder=mine())
    short = compress(space, items, dimension=2)
    short.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space", encoder=mine())
    torch.testing.assert_close(embed(again, items.inputs), embed(short, items.inputs))
