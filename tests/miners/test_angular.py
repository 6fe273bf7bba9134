"""Wide angles at the negative against the geometry, one triplet at a time."""

import math

import pytest
import torch
import torch.nn.functional as F

from samekind.errors import SettingError
from samekind.miners import angular
from samekind.pairs import pair_masks
from samekind.similarities import Cosine, Euclidean

LABELS = [0, 0, 0, 1, 1, 2, 2]


def by_hand(points, angle):
    """All triplets whose angle at the negative is above so many degrees."""
    triplets = set()
    for a, p, n in [(a, p, n) for a in range(7) for p in range(7) for n in range(7)]:
        if a == p or LABELS[a] != LABELS[p] or LABELS[n] == LABELS[a]:
            continue
        middle = (points[a] + points[p]) / 2
        side, median = (points[a] - points[p]).norm().item(), (points[n] - middle).norm().item()
        if math.degrees(math.atan(side / (2 * median))) > angle:
            triplets.add((a, p, n))
    return triplets


@pytest.mark.parametrize("quantity", ["negative distance", "cosine"])
@pytest.mark.parametrize("angle", [0.0, 20.0, 45.0])
def test_agrees_with_the_definition(angle, quantity):
    z = torch.randn(7, 3, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    similarity = Cosine() if quantity == "cosine" else Euclidean(normalise=True)
    masks = pair_masks(torch.tensor(LABELS))
    rows, positive, negative = angular(similarity.score_all(z, z), *masks, angle=angle, quantity=quantity)
    assert (positive.sum(1) == 1).all()
    row, rivals = negative.nonzero(as_tuple=True)
    ours = set(zip(rows[row].tolist(), positive.int().argmax(1)[row].tolist(), rivals.tolist(), strict=True))
    assert ours == by_hand(F.normalize(z), angle)
    assert ours


def test_refuses_other_scores_and_impossible_angles():
    masks = pair_masks(torch.tensor(LABELS))
    with pytest.raises(SettingError, match=r"batch with itself, \(n, n\); got \(3, 7\)"):
        angular(torch.zeros(3, 7), masks[0][:3], masks[1][:3])
    with pytest.raises(SettingError, match="below 90; got 90"):
        angular(torch.zeros(7, 7), *masks, angle=90.0)
