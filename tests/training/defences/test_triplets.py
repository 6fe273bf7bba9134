"""Triplet-loss adversarial training: every anchor, positive and negative by loops."""

import pytest
import torch
from tests.training.defences.conftest import cosine

from samekind.training import Defence
from samekind.training.defences.mixing import all_attacked
from samekind.training.defences.triplets import attacked_triplets


def by_hand(both, margin):
    """The mean over anchors of the mean hinge over positives, the negative being the nearest."""
    shares = []
    for anchor, label in zip(both.attacked.z, both.y, strict=True):
        near = [cosine(anchor, z) for z, other in zip(both.clean.z, both.y, strict=True) if other == label]
        far = [cosine(anchor, z) for z, other in zip(both.clean.z, both.y, strict=True) if other != label]
        if far:
            shares.append(sum(max(0.0, margin + max(far) - score) for score in near) / len(near))
    return sum(shares) / len(both.y)


@pytest.mark.parametrize(
    ("settings", "weight", "margin"), [({}, 2.0, 0.03), ({"weight": 1.0, "margin": 0.5}, 1.0, 0.5)]
)
def test_it_is_the_attacked_loss_the_triplets_and_the_lengths(make, settings, weight, margin):
    both = make()
    lengths = [z.norm().item() for z in [*both.clean.z, *both.attacked.z]]
    expected = all_attacked(both, Defence()).item() + weight * by_hand(both, margin)
    expected += 0.001 * sum(lengths) / len(lengths)
    assert attacked_triplets(both, Defence("triplet", **settings)).item() == pytest.approx(expected)


def test_a_batch_of_one_class_has_no_triplet(make):
    both = make(y=torch.zeros(4, dtype=torch.long))
    lengths = torch.cat([both.clean.z, both.attacked.z]).norm(dim=1).mean()
    cost = attacked_triplets(both, Defence("triplet"))
    assert cost.item() == pytest.approx((all_attacked(both, Defence()) + 0.001 * lengths).item())
