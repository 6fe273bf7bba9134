"""The linear contrastive losses against a loop over pairs."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import linear_contrastive, margin_based, row_blocks
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2])
MASKS = {"pairs": pair_masks(LABELS), "prototypes": class_masks(LABELS, 4)}


def some_distances(mask, seed=0):
    return 2 * torch.rand(mask.shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def mean(costs, active):
    counted = [cost for cost in costs if cost > 0] if active else costs
    return sum(costs) / len(counted) if counted else 0.0


def by_hand(distances, positive, negative, positive_margin, margin):
    """What each positive pair costs, and each negative one."""
    pull, push = [], []
    for a in range(len(distances)):
        for c in range(distances.shape[1]):
            if positive[a, c]:
                pull.append(max(0.0, distances[a, c].item() - positive_margin))
            if negative[a, c]:
                push.append(max(0.0, margin - distances[a, c].item()))
    return pull, push


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize("active", [True, False])
@pytest.mark.parametrize("masks", MASKS)
def test_agrees_with_the_definition(masks, active, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    distances = some_distances(MASKS[masks][0])
    margins = {"positive_margin": 0.4, "margin": 1.1}
    pull, push = by_hand(distances, *MASKS[masks], **margins)
    given = {"active": active, **margins}
    kinds = linear_contrastive(-distances, *MASKS[masks], **given).mean().item()
    assert kinds == pytest.approx(mean(pull, active) + mean(push, active))
    pairs = linear_contrastive(-distances, *MASKS[masks], weighting="pairs", **given).mean().item()
    assert pairs == pytest.approx(mean(pull + push, active))


def test_the_share_of_an_anchor_is_what_its_pairs_add():
    distances = torch.tensor([[0.5, 0.25], [2.0, 2.0]])
    positive = torch.tensor([[True, False], [False, False]])
    negative = torch.tensor([[False, True], [True, True]])
    shares = linear_contrastive(-distances, positive, negative)
    # One positive at 0.5 and one negative that is too near, by 0.75; two anchors.
    assert shares.tolist() == [2 * (0.5 + 0.75), 0.0]


@pytest.mark.parametrize("seed", range(3))
def test_margin_based_is_the_mean_over_pairs_that_cost_something(seed):
    distances = some_distances(MASKS["pairs"][0], seed)
    pull, push = by_hand(distances, *MASKS["pairs"], 1.2 - 0.2, 1.2 + 0.2)
    value = margin_based(-distances, *MASKS["pairs"]).mean().item()
    assert value == pytest.approx(mean(pull + push, active=True))


def test_margins_of_cosines_are_those_of_their_negatives():
    positive = torch.tensor([[True, False]])
    cosines = torch.tensor([[0.75, 0.5]])
    shares = linear_contrastive(cosines, positive, ~positive, positive_margin=-1.0, margin=0.0)
    assert shares.tolist() == [0.25 + 0.5]


def test_pairs_within_their_margins_cost_nothing_and_have_no_gradient():
    scores = -torch.tensor([[0.1, 1.5]]).requires_grad_()
    positive = torch.tensor([[True, False]])
    shares = linear_contrastive(scores, positive, ~positive, positive_margin=0.2)
    assert shares.item() == 0
    assert torch.autograd.grad(shares.sum(), scores)[0].tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("loss", "settings", "message"),
    [
        (linear_contrastive, {"margin": float("nan")}, "margin is a distance, a finite number; got nan"),
        (linear_contrastive, {"positive_margin": float("inf")}, "positive_margin is a distance"),
        (linear_contrastive, {"weighting": "both"}, '"pairs" or "kinds"; got "both"'),
        (margin_based, {"margin": -0.1}, "0 or more; got -0.1"),
    ],
)
def test_refuses_impossible_settings(loss, settings, message):
    with pytest.raises(SettingError, match=message):
        loss(torch.zeros(6, 6), *MASKS["pairs"], **settings)
