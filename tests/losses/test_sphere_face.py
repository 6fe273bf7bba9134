"""SphereFace against the formula written out, with and without its falling continuation."""

import itertools
import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import softmax, sphere_face
from samekind.pairs import class_masks

LABELS = torch.tensor([0, 1, 2, 3, 4, 0])


def target_by_hand(cosine, margin, beyond):
    """cos(mθ), or (-1)^k cos(mθ) - 2k where θ lies between kπ/m and (k + 1)π/m."""
    angle = math.acos(cosine)
    if beyond == "cosine":
        return math.cos(margin * angle)
    piece = next(k for k in range(margin) if angle <= (k + 1) * math.pi / margin)
    return (-1) ** piece * math.cos(margin * angle) - 2 * piece


def by_hand(cosines, labels, margin, beyond, scale=64.0):
    shares = []
    for row, label in zip(cosines.tolist(), labels.tolist(), strict=True):
        ahead = scale * target_by_hand(row[label], margin, beyond)
        behind = math.log(sum(math.exp(scale * c) for other, c in enumerate(row) if other != label))
        shares.append(max(0.0, behind - ahead) + math.log1p(math.exp(-abs(behind - ahead))))
    return torch.tensor(shares, dtype=cosines.dtype)


def some_cosines(items=6, classes=5):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(items, classes, dtype=torch.double, generator=generator) * 2 - 1


@pytest.mark.parametrize("margin", [1, 2, 3, 4])
@pytest.mark.parametrize("beyond", ["falling", "cosine"])
@pytest.mark.parametrize("scale", [64.0, 3.0])
def test_agrees_with_the_definition(margin, beyond, scale):
    shares = sphere_face(some_cosines(), *class_masks(LABELS, 5), margin=margin, beyond=beyond, scale=scale)
    torch.testing.assert_close(shares, by_hand(some_cosines(), LABELS, margin, beyond, scale))


def test_by_default_the_angle_counts_twice_and_the_target_keeps_falling():
    cosines, masks = some_cosines(), class_masks(LABELS, 5)
    torch.testing.assert_close(
        sphere_face(cosines, *masks), sphere_face(cosines, *masks, margin=2, beyond="falling")
    )


def test_with_margin_one_it_is_the_softmax():
    cosines, masks = some_cosines(), class_masks(LABELS, 5)
    torch.testing.assert_close(sphere_face(cosines, *masks, margin=1), softmax(cosines, *masks, scale=64.0))


@pytest.mark.parametrize("margin", [2, 3, 4])
def test_the_falling_target_never_pushes_a_positive(margin):
    """From match to antipode the share only rises, without a jump; the bare cosine would come back."""
    cosines = torch.linspace(1, -1, 401, dtype=torch.double)[:, None]
    cosines = torch.cat([cosines, torch.zeros_like(cosines)], 1).requires_grad_()
    masks = class_masks(torch.zeros(401, dtype=torch.long), 2)
    shares = sphere_face(cosines, *masks, margin=margin, scale=1.0)
    shares.sum().backward()
    rises = [more - less for less, more in itertools.pairwise(shares.tolist())]
    assert min(rises) > -1e-12
    assert max(rises) < 0.1
    assert (cosines.grad[:, 0] < 1e-12).all()
    bare = sphere_face(cosines, *masks, margin=margin, scale=1.0, beyond="cosine").tolist()
    assert min(more - less for less, more in itertools.pairwise(bare)) < -1e-3


@pytest.mark.parametrize("margin", [2, 4])
def test_at_the_ends_value_and_gradient_are_known(margin):
    """cos(mθ) has the slope m² in cos θ at the match; the target ends at 1 - 2m at the antipode."""
    cosines = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], requires_grad=True)
    shares = sphere_face(cosines, *class_masks(torch.tensor([0, 0]), 2), margin=margin, scale=1.0)
    shares.sum().backward()
    assert shares.tolist() == pytest.approx([math.log1p(math.exp(-1)), math.log1p(math.exp(2 * margin - 1))])
    steepness = 1 / (1 + math.exp(1))
    assert cosines.grad[0, 0].item() == pytest.approx(-(margin**2) * steepness, rel=1e-5)
    assert cosines.grad.isfinite().all()


@pytest.mark.parametrize("beyond", ["falling", "cosine"])
def test_has_the_gradient_it_claims(beyond):
    masks, cosines = class_masks(LABELS, 5), some_cosines().requires_grad_()
    assert torch.autograd.gradcheck(lambda s: sphere_face(s, *masks, margin=4, beyond=beyond), cosines)


def test_refuses_settings_it_cannot_take():
    masks = class_masks(LABELS, 5)
    for margin in (0, 1.5):
        with pytest.raises(SettingError, match=f"a whole number from 1; got {margin}"):
            sphere_face(some_cosines(), *masks, margin=margin)
    with pytest.raises(SettingError, match='is "falling" or "cosine"; got "rising"'):
        sphere_face(some_cosines(), *masks, beyond="rising")
