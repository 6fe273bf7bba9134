"""Large-margin softmax against a loop over items and classes."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import large_margin, softmax, sphere_face
from samekind.pairs import class_masks

LABELS, CLASSES = torch.tensor([0, 1, 2, 2, 0]), 4


def some(count, seed):
    return torch.randn(count, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def by_hand(z, proxies, margin):
    """Liu's equations, one item at a time."""
    shares = []
    for item, label in zip(z, LABELS.tolist(), strict=True):
        logits = []
        for number, proxy in enumerate(proxies):
            length = (item.norm() * proxy.norm()).item()
            angle = math.acos((item @ proxy).item() / length)
            piece = min(int(angle * margin / math.pi), margin - 1)
            own = (-1) ** piece * math.cos(margin * angle) - 2 * piece
            logits.append(length * (own if number == label else math.cos(angle)))
        shares.append(math.log(sum(math.exp(logit) for logit in logits)) - logits[label])
    return torch.tensor(shares, dtype=torch.double)


def scored(z, proxies):
    return z @ proxies.T, z.norm(dim=1)[:, None] * proxies.norm(dim=1)


@pytest.mark.parametrize("margin", [1, 2, 4])
def test_agrees_with_the_definition(margin):
    z, proxies = some(5, 0), some(CLASSES, 1)
    scores, lengths = scored(z, proxies)
    shares = large_margin(scores, *class_masks(LABELS, CLASSES), lengths=lengths, margin=margin)
    torch.testing.assert_close(shares, by_hand(z, proxies, margin))


def test_has_the_gradient_it_claims():
    def cost(z, proxies):
        scores, lengths = scored(z, proxies)
        return large_margin(scores, *class_masks(LABELS, CLASSES), lengths=lengths, margin=3)

    assert torch.autograd.gradcheck(cost, (some(5, 0).requires_grad_(), some(CLASSES, 1).requires_grad_()))


def test_with_margin_1_it_is_softmax_and_without_lengths_sphere_face():
    scores, lengths = scored(some(5, 0), some(CLASSES, 1))
    masks = class_masks(LABELS, CLASSES)
    torch.testing.assert_close(
        large_margin(scores, *masks, lengths=lengths, margin=1), softmax(scores, *masks)
    )
    cosines = scores / lengths
    expected = sphere_face(cosines, *masks, scale=5.0, margin=4)
    torch.testing.assert_close(large_margin(cosines, *masks, scale=5.0), expected)


def test_an_item_without_length_scores_0_everywhere():
    z, proxies = some(5, 0), some(CLASSES, 1)
    z[1] = 0
    z.requires_grad_()
    scores = z @ proxies.T
    lengths = torch.linalg.vector_norm(z, dim=1)[:, None] * proxies.norm(dim=1)
    shares = large_margin(scores, *class_masks(LABELS, CLASSES), lengths=lengths)
    assert shares[1].item() == pytest.approx(math.log(CLASSES))
    assert torch.autograd.grad(shares.sum(), z)[0].isfinite().all()


def test_refuses_a_margin_that_is_not_whole_and_lengths_of_another_shape():
    masks = class_masks(LABELS, CLASSES)
    with pytest.raises(SettingError, match=r"margin of large_margin .*whole number from 1; got 0"):
        large_margin(torch.zeros(5, 4), *masks, margin=0)
    with pytest.raises(ValueError, match=r"of one shape .*got \(5, 4\) and \(4,\)"):
        large_margin(torch.zeros(5, 4), *masks, lengths=torch.ones(4))
