"""The contrastive losses against a loop anyone can check by eye."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import contrastive, exponential_contrastive, row_blocks
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])
MASKS = {
    "pairs": pair_masks(LABELS),
    "order one": pair_masks(LABELS, "one"),
    "classes": class_masks(LABELS, 5),
}


def by_hand(scores, positive, negative, pull, push, weighting):
    """The definition, one pair at a time: pull and push are the costs of a distance."""
    pulls, pushes = [], []
    for anchor in range(len(scores)):
        for candidate in range(scores.shape[1]):
            distance = max(0.0, -scores[anchor, candidate].item())
            if positive[anchor, candidate]:
                pulls.append(pull(distance))
            if negative[anchor, candidate]:
                pushes.append(push(distance))
    if weighting == "pairs":
        return sum(pulls + pushes) / len(pulls + pushes)
    return sum(pulls) / len(pulls) + sum(pushes) / len(pushes)


def some_distances(mask):
    return 2 * torch.rand(mask.shape, dtype=torch.double, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("weighting", ["pairs", "kinds"])
@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_agree_with_the_definition(masks, weighting, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    scores = -some_distances(masks[0])
    for margin in (0.0, 0.5, 1.0, 3.0):
        ours = contrastive(scores, *masks, margin=margin, weighting=weighting).mean().item()
        expected = by_hand(
            scores,
            *masks,
            lambda d: d**2 / 2,
            lambda d, margin=margin: max(0, margin - d) ** 2 / 2,
            weighting,
        )
        assert ours == pytest.approx(expected, rel=1e-12)
    for bound in (2.0, 5.0):
        ours = exponential_contrastive(scores, *masks, bound=bound, weighting=weighting).mean().item()
        expected = by_hand(
            scores,
            *masks,
            lambda d, bound=bound: 2 / bound * d**2,
            lambda d, bound=bound: 2 * bound * math.exp(-2.77 * d / bound),
            weighting,
        )
        assert ours == pytest.approx(expected, rel=1e-12)


def test_the_share_of_an_anchor_is_what_its_pairs_add():
    scores = torch.tensor([[-2.0, -0.5], [-1.0, -3.0]])
    positive = torch.tensor([[True, False], [True, False]])
    # ½ (4 + 0.25) and ½ (1 + 0) of four pairs, for two anchors
    assert contrastive(scores, positive, ~positive).tolist() == pytest.approx([2.125 / 2, 0.5 / 2])


@pytest.mark.parametrize("loss", [contrastive, exponential_contrastive])
@pytest.mark.parametrize("weighting", ["pairs", "kinds"])
def test_one_kind_of_pair_alone_still_counts(loss, weighting):
    scores = torch.tensor([[-0.5, -0.5]], requires_grad=True)
    both, nobody = torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 2, dtype=torch.bool)
    together = loss(scores, both, nobody, weighting=weighting)
    apart = loss(scores, nobody, both, weighting=weighting)
    assert torch.autograd.grad(together.sum(), scores)[0].max() < 0
    assert torch.autograd.grad(apart.sum(), scores)[0].min() > 0


@pytest.mark.parametrize("loss", [contrastive, exponential_contrastive])
def test_have_the_gradient_they_claim(loss):
    masks = pair_masks(LABELS)
    scores = -some_distances(masks[0]).requires_grad_()
    assert torch.autograd.gradcheck(lambda leaf: loss(leaf, *masks, weighting="kinds"), scores)


@pytest.mark.parametrize("loss", [contrastive, exponential_contrastive])
def test_a_score_no_distance_gives_counts_as_a_match(loss):
    masks = pair_masks(LABELS)
    torch.testing.assert_close(loss(torch.full((8, 8), 7.0), *masks), loss(torch.zeros(8, 8), *masks))


def test_at_the_bound_a_negative_costs_six_percent():
    scores, negative = torch.tensor([[-2.0], [0.0]]), torch.ones(2, 1, dtype=torch.bool)
    at_bound, at_zero = exponential_contrastive(scores, ~negative, negative, bound=2.0).tolist()
    assert at_bound / at_zero == pytest.approx(math.exp(-2.77))


def test_refuses_wrong_settings():
    batch = torch.zeros(2, 2), *pair_masks(torch.tensor([0, 1]))
    for loss in (contrastive, exponential_contrastive):
        with pytest.raises(SettingError, match='is "pairs" or "kinds"; got "kind"'):
            loss(*batch, weighting="kind")
    with pytest.raises(SettingError, match=r"margin is a distance, 0 or more; got -0.1"):
        contrastive(*batch, margin=-0.1)
    with pytest.raises(SettingError, match=r"must be a positive number, got 0.0"):
        exponential_contrastive(*batch, bound=0.0)
