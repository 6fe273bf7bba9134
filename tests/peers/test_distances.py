"""Similarities against pytorch-metric-learning's distances, where both have them: values and gradients."""

import pytest
import torch

from samekind.similarities import Cosine, Dot, Euclidean, Minkowski, SignalToNoise, SquaredEuclidean

peers = pytest.importorskip("pytorch_metric_learning.distances", reason="needs the extra `peers`")

PAIRS = {
    "cosine": (Cosine(), peers.CosineSimilarity(), 1),
    "dot": (Dot(), peers.DotProductSimilarity(normalize_embeddings=False), 1),
    "distance": (Euclidean(), peers.LpDistance(normalize_embeddings=False), -1),
    "distance on the sphere": (Euclidean(normalise=True), peers.LpDistance(), -1),
    "sum of differences": (Minkowski(), peers.LpDistance(normalize_embeddings=False, p=1), -1),
    "Minkowski": (Minkowski(p=3.0), peers.LpDistance(normalize_embeddings=False, p=3), -1),
    "signal to noise": (SignalToNoise(), peers.SNRDistance(normalize_embeddings=False), -1),
    "squared distance": (SquaredEuclidean(), peers.LpDistance(normalize_embeddings=False, power=2), -1),
}


@pytest.mark.parametrize("name", PAIRS)
def test_agrees_on_every_pair(name):
    ours, theirs, sign = PAIRS[name]
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(7, 5, dtype=torch.double, generator=generator).requires_grad_()
    b = torch.randn(9, 5, dtype=torch.double, generator=generator).requires_grad_()
    mine, other = ours.score_all(a, b), sign * theirs(a, b)
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
    weights = torch.randn(7, 9, dtype=torch.double, generator=generator)
    gradients = [torch.autograd.grad((weights * scores).sum(), (a, b)) for scores in (mine, other)]
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-5, atol=1e-5)
