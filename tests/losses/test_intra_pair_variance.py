"""Intra-pair variance against a loop over pairs."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import intra_pair_variance, row_blocks
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2])


def by_hand(scores, positive, negative, slack):
    """The two means of squares, over the whole batch."""
    value = 0.0
    for mask, sign in ((positive, 1), (negative, -1)):
        cosines = scores[mask].tolist()
        middle = sum(cosines) / len(cosines)
        bar = (1 - sign * slack) * middle
        value += sum(max(0.0, sign * (bar - cosine)) ** 2 for cosine in cosines) / len(cosines)
    return value


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize("slack", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 4)], ids=["pairs", "prototypes"])
def test_agrees_with_the_definition(masks, slack, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    generator = torch.Generator().manual_seed(0)
    scores = 2 * torch.rand(masks[0].shape, dtype=torch.double, generator=generator) - 1
    shares = intra_pair_variance(scores, *masks, positive_slack=slack, negative_slack=slack)
    assert shares.mean().item() == pytest.approx(by_hand(scores, *masks, slack))


def test_pairs_that_score_alike_cost_nothing_without_slack():
    masks = pair_masks(LABELS)
    scores = torch.where(masks[0], 0.75, -0.25)
    shares = intra_pair_variance(scores, *masks, positive_slack=0.0, negative_slack=0.0)
    assert shares.tolist() == [0.0] * 6


def test_a_missing_kind_adds_nothing():
    positive = torch.tensor([[True, True]])
    shares = intra_pair_variance(torch.tensor([[1.0, 0.0]]), positive, ~positive, positive_slack=0.0)
    assert shares.item() == pytest.approx(0.125)  # of two pairs one is 0.5 below the mean


@pytest.mark.parametrize("slack", [-0.1, 1.0])
def test_refuses_a_slack_outside_of_its_range(slack):
    with pytest.raises(SettingError, match=f"positive_slack .*got {slack}"):
        intra_pair_variance(torch.zeros(6, 6), *pair_masks(LABELS), positive_slack=slack)
