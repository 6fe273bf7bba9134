"""ArcFace with a margin below 0: the margins by their angles, the loss by its softmax."""

import math

import pytest
import torch
from tests.training.defences.conftest import cosine

from samekind.training import Defence
from samekind.training.defences.negative_margin import CLEAR, class_margins, negative_margin


def test_a_margin_is_half_of_the_angle_to_the_nearest_proxy():
    # At 0, 60 and 180 degrees: the nearest are 60, 60 and 120 away.
    angles = torch.tensor([0.0, math.pi / 3, math.pi])
    margins = class_margins(3 * torch.stack([angles.cos(), angles.sin()], dim=1))
    assert margins.tolist() == pytest.approx([CLEAR - math.pi / 6] * 2 + [CLEAR - math.pi / 3], abs=1e-4)


def by_hand(both, margins):
    """-log softmax of 4 x cosines, the own angle narrowed, but not below 0."""
    proxies = both.space.prototypes.vectors[:, 0]
    costs = []
    for z, label in zip(both.attacked.z, both.y.tolist(), strict=True):
        logits = [4 * cosine(z, proxy) for proxy in proxies]
        angle = math.acos(cosine(z, proxies[label]))
        logits[label] = 4 * math.cos(max(0.0, angle + margins[label]))
        costs.append(math.log(sum(map(math.exp, logits))) - logits[label])
    return sum(costs) / len(costs)


def test_each_class_has_its_own_margin(make):
    both = make()
    margins = class_margins(both.space.prototypes.vectors[:, 0].detach()).tolist()
    assert len(set(margins)) > 1
    cost = negative_margin(both, Defence("negative-margin")).item()
    assert cost == pytest.approx(by_hand(both, margins), abs=1e-5)


def test_or_one_margin_for_all(make):
    both = make()
    cost = negative_margin(both, Defence("negative-margin", margin=-0.3, weight=2.0)).item()
    assert cost == pytest.approx(2 * by_hand(both, [-0.3] * 3), abs=1e-6)
