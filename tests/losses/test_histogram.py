"""Histogram loss against a loop anyone can check by eye."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import histogram, row_blocks
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def histogram_by_hand(values, bins):
    """Each value counts for the nodes around it, in proportion to its nearness."""
    step = 2 / bins
    heights = [0.0] * (bins + 1)
    for value in values:
        for number in range(bins + 1):
            heights[number] += max(0.0, 1 - abs(value - (-1 + number * step)) / step) / len(values)
    return heights


def by_hand(scores, positive, negative, bins):
    """Σ over nodes of the negatives there, times the positives there and below."""
    ahead = histogram_by_hand(scores[positive].tolist(), bins)
    behind = histogram_by_hand(scores[negative].tolist(), bins)
    assert sum(ahead) == pytest.approx(1)
    assert sum(behind) == pytest.approx(1)
    return sum(behind[r] * sum(ahead[: r + 1]) for r in range(bins + 1))


def some_cosines(mask, seed=0):
    return 2 * torch.rand(mask.shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed)) - 1


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("bins", [1, 2, 7, 200])
@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
def test_agrees_with_the_definition(masks, bins, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    scores = some_cosines(masks[0])
    ours = histogram(scores, *masks, bins=bins).mean().item()
    assert ours == pytest.approx(by_hand(scores, *masks, bins), rel=1e-12)


@pytest.mark.parametrize("block", [10, 1000])
def test_has_the_gradient_it_claims(block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    masks = pair_masks(LABELS)
    scores = some_cosines(masks[0]).requires_grad_()
    assert torch.autograd.gradcheck(lambda leaf: histogram(leaf, *masks, bins=7), scores)


def test_with_fine_bins_it_is_how_often_a_negative_pair_wins():
    masks = pair_masks(torch.arange(40) % 5)
    scores = some_cosines(masks[0])
    ahead, behind = scores[masks[0]], scores[masks[1]]
    wins = (ahead[:, None] < behind).double().mean()
    assert histogram(scores, *masks, bins=20000).mean().item() == pytest.approx(wins.item(), abs=1e-3)


@pytest.mark.parametrize(
    ("ahead", "behind", "value"), [(0.9, -0.9, 0.0), (-0.9, 0.9, 1.0), (1.0, -1.0, 0.0), (-1.0, 1.0, 1.0)]
)
def test_its_ends(ahead, behind, value):
    positive, negative = pair_masks(LABELS)
    scores = torch.where(positive, ahead, behind)
    assert histogram(scores, positive, negative).mean().item() == pytest.approx(value, abs=1e-6)


def test_rounding_beyond_a_cosine_is_harmless():
    masks = pair_masks(LABELS)
    scores = some_cosines(masks[0]).sign()
    torch.testing.assert_close(histogram(scores * (1 + 1e-6), *masks), histogram(scores, *masks))


def test_a_positive_pair_shows_in_the_shares_of_other_anchors():
    """The second anchor has no positive; the first has no negative."""
    scores = torch.tensor([[0.2, 0.0], [0.0, 0.4]], dtype=torch.double, requires_grad=True)
    positive = torch.tensor([[True, False], [False, False]])
    negative = torch.tensor([[False, False], [False, True]])
    shares = histogram(scores, positive, negative, bins=1)
    shares.sum().backward()
    # Half of the sum: 0.6 of the positive is at the upper node, 0.7 of the negative
    assert shares.tolist() == pytest.approx([0.0, 2 * (0.3 * 0.4 + 0.7 * 1.0)])
    assert scores.grad[0, 0] < 0 < scores.grad[1, 1]


def test_refuses_a_histogram_without_bins():
    with pytest.raises(SettingError, match="at least 1 bin, got 0"):
        histogram(torch.zeros(8, 8), *pair_masks(LABELS), bins=0)
