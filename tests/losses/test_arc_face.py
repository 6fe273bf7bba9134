"""ArcFace against the formula written out, at its ends, and with negative margins."""

import itertools
import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import arc_face, softmax
from samekind.pairs import class_masks

LABELS = torch.tensor([0, 1, 2, 3, 4, 0])


def target_by_hand(cosine, margin):
    """cos(θ + m); beyond π and below 0 as the docstring says."""
    angle = math.acos(cosine) + margin
    if angle > math.pi:
        return cosine - margin * math.sin(margin)
    return math.cos(max(0.0, angle))


def by_hand(cosines, labels, margins, scale=64.0):
    """-log of the target's part in the softmax, its angle widened by the margin of its class."""
    shares = []
    for row, label in zip(cosines.tolist(), labels.tolist(), strict=True):
        ahead = math.exp(scale * target_by_hand(row[label], margins[label]))
        behind = sum(math.exp(scale * cosine) for other, cosine in enumerate(row) if other != label)
        shares.append(-math.log(ahead / (ahead + behind)))
    return torch.tensor(shares, dtype=cosines.dtype)


def some_cosines(items=6, classes=5):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(items, classes, dtype=torch.double, generator=generator) * 2 - 1


@pytest.mark.parametrize("margin", [0.5, 0.1, 0.0, -0.3, -1.2, 1.5])
@pytest.mark.parametrize("scale", [64.0, 5.0])
def test_agrees_with_the_definition(margin, scale):
    shares = arc_face(some_cosines(), *class_masks(LABELS, 5), scale=scale, margin=margin)
    torch.testing.assert_close(shares, by_hand(some_cosines(), LABELS, [margin] * 5, scale))


def test_each_class_may_have_its_own_margin():
    margins = torch.tensor([0.5, -0.4, 0.0, 0.2, -1.0], dtype=torch.double)
    shares = arc_face(some_cosines(), *class_masks(LABELS, 5), margin=margins)
    torch.testing.assert_close(shares, by_hand(some_cosines(), LABELS, margins.tolist()))


def test_without_a_margin_it_is_the_softmax():
    cosines, masks = some_cosines(), class_masks(LABELS, 5)
    torch.testing.assert_close(arc_face(cosines, *masks, margin=0.0), softmax(cosines, *masks, scale=64.0))


def target_at(cosine, margin):
    """The moved cosine, read from a share against one rival at 0, and its slope."""
    cosines = torch.tensor([[cosine, 0.0]], dtype=torch.double, requires_grad=True)
    share = arc_face(cosines, *class_masks(torch.tensor([0]), 2), margin=margin, scale=1.0)
    share.sum().backward()
    part = math.exp(-share.item())
    return math.log(part / (1 - part)), -cosines.grad[0, 0].item() / (1 - part)


@pytest.mark.parametrize("margin", [0.5, -0.3, 1.2])
def test_the_target_never_falls_as_the_cosine_rises(margin):
    """Over the whole circle, past the antipode of the widened angle too: so a positive is never pushed."""
    targets, slopes = zip(*(target_at(step / 50, margin) for step in range(-50, 51)), strict=True)
    assert all(less <= more + 1e-12 for less, more in itertools.pairwise(targets))
    assert min(slopes) > -1e-12


def test_values_at_the_exact_match_and_the_antipode():
    for margin in (0.5, -0.5):
        at_match, slope = target_at(1.0, margin)
        assert at_match == pytest.approx(math.cos(max(0.0, margin)), abs=1e-6)
        assert slope == pytest.approx(math.cos(margin) if margin > 0 else 0.0, abs=1e-6)
    assert target_at(-1.0, 0.5) == pytest.approx((-1 - 0.5 * math.sin(0.5), 1.0))
    assert target_at(-1.0, -0.5) == pytest.approx((math.cos(math.pi - 0.5), math.cos(0.5)), abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("margin", [0.5, -0.5])
def test_next_to_the_ends_the_gradient_is_a_number(dtype, margin):
    ends = [1.0, 1 - 1e-7, 1 + 1e-6, -1.0, -1 + 1e-7, -1 - 1e-6]
    cosines = torch.tensor([[end, 0.9] for end in ends], dtype=dtype, requires_grad=True)
    labels = torch.zeros(len(ends), dtype=torch.long)
    shares = arc_face(cosines, *class_masks(labels, 2), margin=margin)
    shares.sum().backward()
    assert shares.isfinite().all()
    assert cosines.grad.isfinite().all()


def test_with_a_negative_margin_an_item_near_enough_is_not_pulled():
    """Near enough: within the margin of its class; its gradient is 0, that of one outside is not."""
    angles = torch.tensor([0.2, 0.6], dtype=torch.double)
    cosines = torch.stack([angles.cos(), torch.full((2,), 0.9, dtype=torch.double)], 1).requires_grad_()
    labels = torch.zeros(2, dtype=torch.long)
    arc_face(cosines, *class_masks(labels, 2), margin=-0.4).sum().backward()
    assert cosines.grad[0, 0] == 0
    assert cosines.grad[1, 0] < 0


@pytest.mark.parametrize("margin", [-0.4, torch.tensor([0.5, -0.3, 0.2, 0.0, 0.1])])
def test_has_the_gradient_it_claims(margin):
    masks = class_masks(LABELS, 5)
    cosines = (0.9 * some_cosines()).requires_grad_()
    assert torch.autograd.gradcheck(lambda leaf: arc_face(leaf, *masks, margin=margin), cosines)


def test_a_margin_in_degrees_or_of_other_classes_is_refused():
    masks = class_masks(LABELS, 5)
    with pytest.raises(SettingError, match=r"in radians, from -π/2 to π/2; got 28\.6"):
        arc_face(some_cosines(), *masks, margin=28.6)
    with pytest.raises(SettingError, match=r"one for each of the 5 candidates; got the shape \(4,\)"):
        arc_face(some_cosines(), *masks, margin=torch.zeros(4))
