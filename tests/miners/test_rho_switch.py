"""The switch: which triplets come back, and how often each kind."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import triplet
from samekind.miners import rho_switch
from samekind.miners.distance_weighted import draw_chances
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import Euclidean

LABELS = torch.tensor([0, 0, 0, 1, 1, 2])
MASKS = pair_masks(LABELS)


def some_scores(seed=0):
    z = torch.randn(6, 4, dtype=torch.double, generator=torch.Generator().manual_seed(seed))
    return Euclidean(normalise=True).score_all(z, z)


def mined(scores, generator, **arguments):
    rows, positive, negative = rho_switch(scores, *MASKS, dimension=4, generator=generator, **arguments)
    assert (positive.sum(1) == 1).all()
    assert (negative.sum(1) == 1).all()
    columns = positive.int().argmax(1).tolist(), negative.int().argmax(1).tolist()
    return list(zip(rows.tolist(), *columns, strict=True))


@pytest.mark.parametrize("switch", [0.0, 0.2, 1.0])
def test_a_triplet_is_plain_or_switched_as_often_as_asked(switch):
    scores, generator = some_scores(), torch.Generator().manual_seed(0)
    switched = 0
    for _ in range(400):
        triplets = mined(scores, generator, switch=switch)
        assert [anchor for anchor, _, _ in triplets] == [0, 1, 2, 3, 4]  # 5 has no positive
        for anchor, positive, negative in triplets:
            if positive == anchor:
                switched += 1
                assert negative != anchor
                assert LABELS[negative] == LABELS[anchor]
            else:
                assert LABELS[positive] == LABELS[anchor] != LABELS[negative]
    assert switched / 2000 == pytest.approx(switch, abs=0.036)  # four standard deviations


def test_the_plain_ones_have_any_positive_and_a_negative_by_its_weight():
    scores, generator = some_scores(), torch.Generator().manual_seed(0)
    positives, negatives = torch.zeros(6, 6), torch.zeros(6, 6)
    repeats = 1000
    for _ in range(repeats):
        for anchor, positive, negative in mined(scores, generator, switch=0.0):
            positives[anchor, positive] += 1 / repeats
            negatives[anchor, negative] += 1 / repeats
    torch.testing.assert_close(positives[0], torch.tensor([0.0, 0.5, 0.5, 0.0, 0.0, 0.0]), atol=0.064, rtol=0)
    chances = draw_chances(-scores, MASKS[1], dimension=4, nearest=0.5, farthest=1.4).float()
    torch.testing.assert_close(negatives[:5], chances[:5], atol=0.064, rtol=0)


def test_a_switched_triplet_pushes_its_two_items_apart_up_to_the_margin():
    """Its share is margin - distance, since an item is at distance 0 from itself."""
    z = torch.tensor([[1.0, 0.0], [0.98, 0.2], [0.0, 1.0]], requires_grad=True)
    scores = Euclidean(normalise=True).score_all(z, z)
    masks = pair_masks(torch.tensor([0, 0, 1]))
    rows, positive, negative = rho_switch(scores.detach(), *masks, dimension=2, switch=1.0)
    shares = triplet(scores[rows], positive, negative, margin=0.5)
    torch.testing.assert_close(shares, 0.5 + scores[[0, 1], [1, 0]])
    (slope,) = torch.autograd.grad(shares.sum(), z)
    parted = (z - 0.01 * slope).detach()
    assert Euclidean()(parted[:1], parted[1:2]) < Euclidean()(z[:1], z[1:2])


def test_scores_against_anything_but_the_batch_are_refused():
    with pytest.raises(SettingError, match=r"scores of a batch with itself, \(n, n\); got \(6, 4\)"):
        rho_switch(torch.zeros(6, 4), *class_masks(LABELS, 4), dimension=4)


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_without_a_triplet_there_is_no_row(labels):
    rows, positive, negative = rho_switch(torch.zeros(3, 3), *pair_masks(torch.tensor(labels)), dimension=4)
    assert rows.shape == (0,)
    assert positive.shape == negative.shape == (0, 3)
