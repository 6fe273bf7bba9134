"""Triplets with the anchor swap against a loop, and against PyTorch's own."""

import pytest
import torch

from samekind.losses import swapped_triplet, triplet
from samekind.pairs import pair_masks
from samekind.similarities import Euclidean

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 3])


@pytest.fixture
def batch():
    torch.manual_seed(0)
    z = torch.randn(len(LABELS), 4, dtype=torch.double)
    scores = Euclidean().score_all(z, z)
    positive, negative = pair_masks(LABELS)
    return z, scores, positive, negative, scores.masked_fill(~negative, -torch.inf)


def by_hand(scores, margin):
    """The definition, one anchor at a time."""
    values = []
    for anchor in range(len(LABELS)):
        terms = [
            max(0.0, max(scores[anchor][n], scores[p][n]).item() - scores[anchor][p].item() + margin)
            for p in range(len(LABELS))
            for n in range(len(LABELS))
            if p != anchor and LABELS[p] == LABELS[anchor] and LABELS[n] != LABELS[anchor]
        ]
        values.append(sum(terms) / len(terms) if terms else 0.0)
    return torch.tensor(values, dtype=torch.double)


def test_agrees_with_the_definition(batch):
    _, scores, positive, negative, between = batch
    costs = swapped_triplet(scores, positive, negative, between=between, margin=0.7)
    torch.testing.assert_close(costs, by_hand(scores, 0.7))


def test_agrees_with_pytorch_on_one_triplet(batch):
    z, scores, _, _, between = batch
    positive, negative = torch.zeros(2, 1, 7, dtype=torch.bool)
    positive[0, 1], negative[0, 4] = True, True
    ours = swapped_triplet(scores[:1], positive, negative, between=between, margin=2.0)
    theirs = torch.nn.TripletMarginLoss(margin=2.0, swap=True, eps=0)(z[:1], z[1:2], z[4:5])
    assert ours.item() > 0
    assert ours.item() == pytest.approx(theirs.item())


def test_costs_at_least_what_the_triplet_costs(batch):
    _, scores, positive, negative, between = batch
    swapped = swapped_triplet(scores, positive, negative, between=between)
    assert (swapped >= triplet(scores, positive, negative) - 1e-12).all()


def test_needs_the_scores_between_candidates(batch):
    _, scores, positive, negative, _ = batch
    with pytest.raises(ValueError, match="between"):
        swapped_triplet(scores, positive, negative)
