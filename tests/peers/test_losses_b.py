"""More losses against pytorch-metric-learning's, value and gradient, where both have the same one.

Theirs average over the anchors that cost something unless told otherwise, ours over all: so they are told.
"""

import math

import pytest
import torch
import torch.nn.functional as F

from samekind import losses
from samekind.pairs import class_masks, pair_masks
from samekind.prototypes import pool
from samekind.similarities import Cosine, SquaredEuclidean

peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
reducers = pytest.importorskip("pytorch_metric_learning.reducers")

CLASSES, DIMENSION = 5, 6
# Classes of unequal size; the last has no item, so its proxy only pushes.
LABELS = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])


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


def with_weights(loss, name):
    """Their loss in double precision, its parameter drawn as ours would be."""
    weights = getattr(loss, name)
    with torch.no_grad():
        weights.copy_(torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)))
    return loss.double()


def to_classes(similarity, proxies, z):
    """Scores of items against proxies, and the masks of their classes."""
    return similarity.score_all(proxies, z).T, *class_masks(LABELS, CLASSES)


@pytest.mark.parametrize(("attraction", "repulsion", "threshold"), [(2.0, 50.0, 0.5), (1.0, 10.0, 1.0)])
def test_multi_similarity(z, attraction, repulsion, threshold):
    loss = peers.MultiSimilarityLoss(alpha=attraction, beta=repulsion, base=threshold)
    ours = losses.multi_similarity(
        Cosine().score_all(z, z),
        *pair_masks(LABELS),
        attraction=attraction,
        repulsion=repulsion,
        threshold=threshold,
    )
    agree(ours.mean(), loss(z, LABELS), z)


@pytest.mark.parametrize(("margin", "sharpness"), [(0.4, 80.0), (0.25, 256.0)])
def test_circle(z, margin, sharpness):
    loss = peers.CircleLoss(m=margin, gamma=sharpness, reducer=reducers.MeanReducer())
    scores = Cosine().score_all(z, z)
    ours = losses.circle(scores, *pair_masks(LABELS), margin=margin, sharpness=sharpness)
    agree(ours.mean(), loss(z, LABELS), z)


@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_supervised_contrastive(z, temperature):
    loss = peers.SupConLoss(temperature=temperature, reducer=reducers.MeanReducer())
    scores = Cosine().score_all(z, z)
    ours = losses.supervised_contrastive(scores, *pair_masks(LABELS), scale=1 / temperature)
    agree(ours.mean(), loss(z, LABELS), z)


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_nca(z, scale):
    loss = peers.NCALoss(softmax_scale=scale)
    scores = SquaredEuclidean(normalise=True).score_all(z, z)
    agree(losses.nca(scores, *pair_masks(LABELS), scale=scale).mean(), loss(z, LABELS), z)


@pytest.mark.parametrize("scale", [1.0, 9.0])
def test_proxy_nca_without_smoothing(z, scale):
    loss = with_weights(peers.ProxyNCALoss(CLASSES, DIMENSION, softmax_scale=scale), "proxies")
    batch = to_classes(SquaredEuclidean(normalise=True), loss.proxies, z)
    agree(losses.proxy_nca(*batch, scale=scale, smoothing=0.0).mean(), loss(z, LABELS), z, loss.proxies)


@pytest.mark.parametrize(("margin", "sharpness"), [(0.1, 32.0), (0.3, 8.0)])
def test_proxy_anchor(z, margin, sharpness):
    loss = with_weights(peers.ProxyAnchorLoss(CLASSES, DIMENSION, margin=margin, alpha=sharpness), "proxies")
    batch = to_classes(Cosine(), loss.proxies, z)
    ours = losses.proxy_anchor(*batch, margin=margin, sharpness=sharpness).mean()
    agree(ours, loss(z, LABELS), z, loss.proxies)


@pytest.mark.parametrize(("scale", "temperature", "margin"), [(20.0, 0.1, 0.01), (5.0, 1.0, 0.2)])
def test_soft_triple(z, scale, temperature, margin):
    loss = with_weights(
        peers.SoftTripleLoss(
            CLASSES, DIMENSION, centers_per_class=3, la=scale, gamma=temperature, margin=margin
        ),
        "fc",
    )
    scores = Cosine().score_all(loss.fc.T, z).T.reshape(len(z), CLASSES, 3)
    pooled = pool(scores, "soft", temperature=temperature)
    ours = losses.soft_triple(pooled, *class_masks(LABELS, CLASSES), scale=scale, margin=margin).mean()
    agree(ours, loss(z, LABELS), z, loss.fc)


@pytest.mark.parametrize(("degrees", "scale"), [(28.6, 64.0), (10.0, 5.0), (80.0, 5.0)])
def test_arc_face(z, degrees, scale):
    """Theirs takes degrees; past π both continue alike, which 80 degrees reach."""
    loss = with_weights(peers.ArcFaceLoss(CLASSES, DIMENSION, margin=degrees, scale=scale), "W")
    batch = to_classes(Cosine(), loss.W.T, z)
    ours = losses.arc_face(*batch, margin=math.radians(degrees), scale=scale).mean()
    agree(ours, loss(z, LABELS), z, loss.W)


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")  # in their constructor
@pytest.mark.parametrize("margin", [2, 4])
def test_sphere_face_of_embeddings_on_the_sphere(z, margin):
    """Theirs multiplies by the embedding's length, ours by the scale alone: at length 1 they are one."""
    loss = with_weights(peers.SphereFaceLoss(CLASSES, DIMENSION, margin=margin, scale=5.0), "W")
    batch = to_classes(Cosine(), loss.W.T, z)
    ours = losses.sphere_face(*batch, margin=margin, scale=5.0).mean()
    agree(ours, loss(F.normalize(z), LABELS), z, loss.W)
