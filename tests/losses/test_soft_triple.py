"""SoftTriple against the paper's formula, the several centres of a class included."""

import math

import pytest
import torch

from samekind.losses import additive_margin, soft_triple, softmax
from samekind.pairs import class_masks
from samekind.prototypes import LearnedProxies
from samekind.similarities import Cosine
from samekind.space import MetricSpace

LABELS = torch.tensor([0, 1, 2, 0])
CLASSES = ["a", "b", "c"]


def by_hand(z, centres, labels, scale=20.0, margin=0.01, temperature=0.1):
    """S = Σ softmax(x·w / γ) x·w over a class's centres; then a softmax over classes with a margin."""
    shares = []
    for item, label in zip(z.tolist(), labels.tolist(), strict=True):
        relaxed = []
        for several in centres.tolist():
            cosines = [
                sum(a * b for a, b in zip(item, centre, strict=True))
                / (math.hypot(*item) * math.hypot(*centre))
                for centre in several
            ]
            weights = [math.exp(cosine / temperature) for cosine in cosines]
            relaxed.append(sum(w * c for w, c in zip(weights, cosines, strict=True)) / sum(weights))
        ahead = math.exp(scale * (relaxed[label] - margin))
        behind = sum(math.exp(scale * s) for c, s in enumerate(relaxed) if c != label)
        shares.append(-math.log(ahead / (ahead + behind)))
    return torch.tensor(shares, dtype=z.dtype)


@pytest.mark.parametrize("arguments", [{}, {"scale": 5.0, "margin": 0.2}])
def test_with_softly_pooled_proxies_it_is_the_papers_loss(arguments):
    torch.manual_seed(0)
    centres = LearnedProxies(CLASSES, dimension=4, count=3, pooling="soft").double()
    space = MetricSpace(torch.nn.Identity(), Cosine(), centres)
    z = torch.randn(4, 4, dtype=torch.double)
    shares = soft_triple(space.score_classes(z), *class_masks(LABELS, 3), **arguments)
    torch.testing.assert_close(shares, by_hand(z, centres.vectors, LABELS, **arguments))


def test_over_given_scores_it_is_the_additive_margin_and_without_one_the_softmax():
    scores = torch.rand(4, 3, generator=torch.Generator().manual_seed(0))
    masks = class_masks(LABELS, 3)
    torch.testing.assert_close(
        soft_triple(scores, *masks), additive_margin(scores, *masks, scale=20.0, margin=0.01)
    )
    torch.testing.assert_close(soft_triple(scores, *masks, margin=0.0), softmax(scores, *masks, scale=20.0))
