"""Losses of pairs, rankings and classes, and penalties, against pytorch-metric-learning's."""

import pytest
import torch
import torch.nn.functional as F

from samekind import losses
from samekind.miners.rows import triplet_rows
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import Cosine, Euclidean, SignalToNoise

peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
distances = pytest.importorskip("pytorch_metric_learning.distances")
reducers = pytest.importorskip("pytorch_metric_learning.reducers")

CLASSES, MEMBERS, DIMENSION = 4, 5, 6
LABELS = torch.arange(CLASSES).repeat_interleave(MEMBERS)
MASKS = pair_masks(LABELS)


@pytest.fixture
def z():
    """Classes that overlap, so that every loss has something to say."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(CLASSES, DIMENSION, dtype=torch.double, generator=generator)
    noise = torch.randn(len(LABELS), DIMENSION, dtype=torch.double, generator=generator)
    return (centres[LABELS] + noise).requires_grad_()


def agree(ours, theirs, *leaves, within=1e-5):
    """The same value and the same gradient for each leaf."""
    assert ours.item() > 0.001
    torch.testing.assert_close(ours, theirs, atol=within, rtol=within)
    gradients = [torch.autograd.grad(cost, leaves) for cost in (ours, theirs)]
    assert all((gradient != 0).any() for gradient in gradients[0])
    torch.testing.assert_close(gradients[0], gradients[1], atol=within, rtol=within)


@pytest.mark.parametrize("active", [True, False])
def test_linear_contrastive(z, active):
    reducer = reducers.AvgNonZeroReducer() if active else reducers.MeanReducer()
    loss = peers.ContrastiveLoss(pos_margin=0.3, neg_margin=1.2, reducer=reducer)
    scores = Euclidean(normalise=True).score_all(z, z)
    ours = losses.linear_contrastive(scores, *MASKS, positive_margin=0.3, margin=1.2, active=active)
    agree(ours.mean(), loss(z, LABELS), z)


def test_linear_contrastive_on_cosines(z):
    loss = peers.ContrastiveLoss(pos_margin=1, neg_margin=0, distance=distances.CosineSimilarity())
    scores = Cosine().score_all(z, z)
    ours = losses.linear_contrastive(scores, *MASKS, positive_margin=-1.0, margin=0.0)
    agree(ours.mean(), loss(z, LABELS), z)


def test_linear_contrastive_of_signal_to_noise(z):
    """Theirs normalises: a factor of one embedding is not a factor of both, so here they are beforehand."""
    unit = F.normalize(z)
    ours = losses.linear_contrastive(SignalToNoise().score_all(unit, unit), *MASKS)
    agree(ours.mean(), peers.SignalToNoiseRatioContrastiveLoss()(z, LABELS), z)


@pytest.mark.parametrize(("margin", "boundary"), [(0.2, 1.2), (0.5, 0.8)])
def test_margin_based(z, margin, boundary):
    """Theirs goes over triplets: here they are given, one a row, so that a pair counts as often."""
    triplets = torch.tensor([[0, 1, 7], [3, 2, 11], [6, 9, 0], [12, 14, 18], [19, 16, 2]]).T
    scores = Euclidean(normalise=True).score_all(z, z)
    rows, *masks = triplet_rows(*triplets, candidates=len(z))
    ours = losses.margin_based(scores[rows], *masks, margin=margin, boundary=boundary)
    loss = peers.MarginLoss(margin=margin, beta=boundary)
    agree(ours.mean(), loss(z, LABELS, tuple(triplets)), z)


@pytest.mark.parametrize("bins", [10, 25])
def test_fast_ap(z, bins):
    ours = losses.fast_ap(Cosine().score_all(z, z), *MASKS, bins=bins)
    agree(ours.mean(), peers.FastAPLoss(num_bins=bins)(z, LABELS), z)


def test_intra_pair_variance(z):
    loss = peers.IntraPairVarianceLoss(pos_eps=0.05, neg_eps=0.02)
    scores = Cosine().score_all(z, z)
    ours = losses.intra_pair_variance(scores, *MASKS, positive_slack=0.05, negative_slack=0.02)
    agree(ours.mean(), loss(z, LABELS), z)


@pytest.mark.parametrize("hot", [0, 5])
def test_ranked_list(z, hot):
    """Theirs adds 1e-5 to every weight, and has the weights in its gradient, which they are not at 0."""
    scores = Euclidean(normalise=True).score_all(z, z)
    ours = losses.ranked_list(scores, *MASKS, negative_temperature=float(hot)).mean()
    theirs = peers.RankedListLoss(margin=0.4, Tn=hot, alpha=1.2)(z, LABELS)
    if hot:
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    else:
        agree(ours, theirs, z, within=1e-4)


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept")  # in their constructor
@pytest.mark.parametrize("margin", [2, 4])
def test_large_margin(z, margin):
    loss = peers.LargeMarginSoftmaxLoss(CLASSES, DIMENSION, margin=margin)
    with torch.no_grad():
        loss.W.copy_(torch.randn(DIMENSION, CLASSES, generator=torch.Generator().manual_seed(1)))
    loss = loss.double()
    lengths = z.norm(dim=1)[:, None] * loss.W.norm(dim=0)
    masks = class_masks(LABELS, CLASSES)
    ours = losses.large_margin(z @ loss.W, *masks, lengths=lengths, margin=margin)
    agree(ours.mean(), loss(z, LABELS), z, loss.W)
