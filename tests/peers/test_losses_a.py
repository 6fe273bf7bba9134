"""The losses of pairs, triplets and rankings against pytorch-metric-learning's, value and gradient.

Its losses average over tuples and ours over anchors, so the batch is balanced, where the two agree. Where
its form of a loss is another, the test says how the two are made one.
"""

import pytest
import torch
import torch.nn.functional as F

from samekind.losses import (
    angular,
    contrastive,
    generalised_lifted_structure,
    histogram,
    lifted_structure,
    n_pair,
    smooth_ap,
    triplet,
)
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import Cosine, Dot, Euclidean, SquaredEuclidean

peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
distances = pytest.importorskip("pytorch_metric_learning.distances")
reducers = pytest.importorskip("pytorch_metric_learning.reducers")

CLASSES, MEMBERS, DIMENSION = 4, 5, 6
LABELS = torch.arange(CLASSES).repeat_interleave(MEMBERS)
MASKS = pair_masks(LABELS)


def embeddings(labels):
    """Classes that overlap, so that every loss has something to say."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(int(labels.max()) + 1, DIMENSION, dtype=torch.double, generator=generator)
    noise = torch.randn(len(labels), DIMENSION, dtype=torch.double, generator=generator)
    return (centres[labels] + noise).requires_grad_()


@pytest.fixture
def z():
    return embeddings(LABELS)


def agree(ours, theirs, z):
    """The same value and the same gradient."""
    assert ours.item() > 0.01
    torch.testing.assert_close(ours, theirs.to(ours.dtype), atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(cost, z)[0] for cost in (ours, theirs)]
    assert (gradients[0] != 0).any()
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-5, rtol=1e-5)


def between(scores):
    return scores.masked_fill(LABELS[:, None] == LABELS, -torch.inf)


@pytest.mark.parametrize("margin", [1.0, 4.0])
@pytest.mark.parametrize("weighting", ["pairs", "kinds"])
def test_contrastive(z, margin, weighting):
    """Theirs is the mean of d and that of [margin - d]₊, without ½ and without square: here their costs are
    taken pair by pair, squared and halved.
    """
    loss = peers.ContrastiveLoss(
        neg_margin=margin,
        distance=distances.LpDistance(normalize_embeddings=False),
        reducer=reducers.DoNothingReducer(),
    )
    costs = loss(z, LABELS)
    kinds = [costs[name]["losses"].square() / 2 for name in ("pos_loss", "neg_loss")]
    scores = Euclidean().score_all(z, z)
    theirs = torch.cat(kinds).mean() if weighting == "pairs" else kinds[0].mean() + kinds[1].mean()
    agree(contrastive(scores, *MASKS, margin=margin, weighting=weighting).mean(), theirs, z)


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("power", [1, 2])
def test_triplet_with_a_soft_margin(z, margin, power):
    """Squared distances are another similarity to us and another distance to them."""
    loss = peers.TripletMarginLoss(
        margin=margin,
        smooth_loss=True,
        distance=distances.LpDistance(normalize_embeddings=False, power=power),
        reducer=reducers.MeanReducer(),
    )
    scores = (Euclidean() if power == 1 else SquaredEuclidean()).score_all(z, z)
    agree(triplet(scores, *MASKS, margin=margin, soft=True).mean(), loss(z, LABELS), z)


def test_n_pair(z):
    """Theirs takes the first pair of each class, the candidates being the second items of these; and it
    normalises unless told not to.
    """
    first, second = torch.arange(CLASSES) * MEMBERS, torch.arange(CLASSES) * MEMBERS + 1
    scores = Dot().score_all(z[first], z[second])
    ours = n_pair(scores, *class_masks(torch.arange(CLASSES), CLASSES)).mean()
    loss = peers.NPairsLoss(distance=distances.DotProductSimilarity(normalize_embeddings=False))
    agree(ours, loss(z, LABELS), z)


@pytest.mark.parametrize("alpha", [30, 45])
def test_angular(z, alpha):
    """Theirs normalises anchors and positives but not negatives, so here all are normalised beforehand."""
    scores = Cosine().score_all(z, z)
    ours = angular(scores, *MASKS, between=between(scores), alpha=float(alpha)).mean()
    agree(ours, peers.AngularLoss(alpha=alpha)(F.normalize(z), LABELS), z)


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_lifted_structure(z, margin):
    loss = peers.LiftedStructureLoss(
        neg_margin=margin, distance=distances.LpDistance(normalize_embeddings=False)
    )
    scores = Euclidean().score_all(z, z)
    ours = lifted_structure(scores, *MASKS, between=between(scores), margin=margin).mean()
    agree(ours, loss(z, LABELS), z)


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_generalised_lifted_structure(z, margin):
    loss = peers.GeneralizedLiftedStructureLoss(
        neg_margin=margin, distance=distances.LpDistance(normalize_embeddings=False)
    )
    scores = Euclidean().score_all(z, z)
    agree(generalised_lifted_structure(scores, *MASKS, margin=margin).mean(), loss(z, LABELS), z)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")  # theirs indexes with a list
@pytest.mark.parametrize("bins", [10, 100])
def test_histogram(z, bins):
    ours = histogram(Cosine().score_all(z, z), *MASKS, bins=bins).mean()
    agree(ours, peers.HistogramLoss(n_bins=bins)(z, LABELS), z)


@pytest.mark.parametrize("temperature", [0.01, 0.2])
def test_smooth_ap(temperature):
    """Theirs counts the anchor itself among its positives, and mistakes the number of classes for that of
    their members, so here there are as many of the one as of the other.
    """
    labels = torch.arange(4).repeat_interleave(4)
    z = embeddings(labels)
    same = labels[:, None] == labels
    ours = smooth_ap(Cosine().score_all(z, z), same, ~same, temperature=temperature).mean()
    agree(ours, peers.SmoothAPLoss(temperature=temperature)(z, labels), z)
