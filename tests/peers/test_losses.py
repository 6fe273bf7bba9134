"""The losses against pytorch-metric-learning's, value and gradient, where both have the same one.

Its losses average over tuples and ours over anchors, so the batch is balanced, where the two agree.
"""

import pytest
import torch

from samekind.losses import additive_margin, softmax, triplet
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import Cosine, Euclidean

peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
distances = pytest.importorskip("pytorch_metric_learning.distances")
reducers = pytest.importorskip("pytorch_metric_learning.reducers")

CLASSES, MEMBERS, DIMENSION = 4, 5, 6
LABELS = torch.arange(CLASSES).repeat_interleave(MEMBERS)


@pytest.fixture
def z():
    """Classes that overlap, so that every loss has something to say."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(CLASSES, DIMENSION, dtype=torch.double, generator=generator)
    noise = torch.randn(len(LABELS), DIMENSION, dtype=torch.double, generator=generator)
    return (centres[LABELS] + noise).requires_grad_()


def agree(ours, theirs, *leaves):
    """The same value and the same gradient for each leaf."""
    assert ours.item() > 0.01
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(cost, leaves) for cost in (ours, theirs)]
    assert all((gradient != 0).any() for gradient in gradients[0])
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-5, rtol=1e-5)


def with_weights(loss):
    """Their classifier with weights of ours: a matrix (dimension, classes)."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        loss.W.copy_(torch.randn(DIMENSION, CLASSES, generator=generator))
    return loss.double()


@pytest.mark.parametrize("margin", [0.05, 0.3])
@pytest.mark.parametrize("normalise", [True, False])
def test_triplet(z, margin, normalise):
    loss = peers.TripletMarginLoss(
        margin=margin,
        distance=distances.LpDistance(normalize_embeddings=normalise),
        reducer=reducers.MeanReducer(),
    )
    scores = Euclidean(normalise=normalise).score_all(z, z)
    agree(triplet(scores, *pair_masks(LABELS), margin=margin).mean(), loss(z, LABELS), z)


def test_triplet_on_cosines(z):
    loss = peers.TripletMarginLoss(
        margin=0.2, distance=distances.CosineSimilarity(), reducer=reducers.MeanReducer()
    )
    scores = Cosine().score_all(z, z)
    agree(triplet(scores, *pair_masks(LABELS), margin=0.2).mean(), loss(z, LABELS), z)


@pytest.mark.parametrize(("margin", "scale"), [(0.35, 30.0), (0.1, 64.0)])
def test_additive_margin_is_their_cosface(z, margin, scale):
    loss = with_weights(peers.CosFaceLoss(CLASSES, DIMENSION, margin=margin, scale=scale))
    scores = Cosine().score_all(loss.W.T, z).T
    ours = additive_margin(scores, *class_masks(LABELS, CLASSES), margin=margin, scale=scale).mean()
    agree(ours, loss(z, LABELS), z, loss.W)


@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_softmax_over_prototypes_is_their_normalised_softmax(z, temperature):
    loss = with_weights(peers.NormalizedSoftmaxLoss(CLASSES, DIMENSION, temperature=temperature))
    scores = Cosine().score_all(loss.W.T, z).T
    ours = softmax(scores, *class_masks(LABELS, CLASSES), scale=1 / temperature).mean()
    agree(ours, loss(z, LABELS), z, loss.W)


@pytest.mark.parametrize("temperature", [0.07, 0.5])
def test_softmax_over_the_batch_is_their_nt_xent(z, temperature):
    loss = peers.NTXentLoss(temperature=temperature)
    ours = softmax(Cosine().score_all(z, z), *pair_masks(LABELS), scale=1 / temperature).mean()
    agree(ours, loss(z, LABELS), z)
