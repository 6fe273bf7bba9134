"""CORR against a loop anyone can check by eye."""

import pytest
import torch

from samekind.losses import corr
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(cosines, positive, squared):
    """The mean of 1 - cos over an anchor's positives, or of its square."""
    shares = []
    for row, ahead in zip(cosines, positive, strict=True):
        gaps = [(1 - cosine) ** (2 if squared else 1) for cosine in row[ahead].tolist()]
        shares.append(sum(gaps) / len(gaps) if gaps else 0.0)
    return torch.tensor(shares, dtype=cosines.dtype)


def some_cosines(mask):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(mask.shape, dtype=torch.double, generator=generator) * 2 - 1


@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
@pytest.mark.parametrize("squared", [False, True])
def test_agrees_with_the_definition(masks, squared):
    cosines = some_cosines(masks[0])
    torch.testing.assert_close(corr(cosines, *masks, squared=squared), by_hand(cosines, masks[0], squared))


@pytest.mark.parametrize("squared", [False, True])
def test_pulls_positives_and_leaves_negatives_alone(squared):
    """Why it is an exception to the promise that negatives are pushed."""
    positive, negative = class_masks(LABELS, 5)
    cosines = some_cosines(positive).requires_grad_()
    corr(cosines, positive, negative, squared=squared).sum().backward()
    assert (cosines.grad[positive] < 0).all()
    assert (cosines.grad[negative] == 0).all()


@pytest.mark.parametrize(("squared", "most"), [(False, 2.0), (True, 4.0)])
def test_has_known_extremes_and_rounding_does_not_pass_them(squared, most):
    positive = torch.tensor([[True, False]])
    for cosine, expected in ((1.0, 0.0), (1 + 1e-6, 0.0), (-1.0, most), (-1 - 1e-6, most)):
        share = corr(torch.tensor([[cosine, 0.3]]), positive, ~positive, squared=squared)
        assert share.item() == expected
