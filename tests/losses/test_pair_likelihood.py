"""Pair likelihood against loops over pairs, over triplets, and against torch's binary cross-entropy."""

import math
from collections import Counter

import pytest
import torch
import torch.nn.functional as F

from samekind.errors import SettingError
from samekind.losses import pair_likelihood
from samekind.pairs import class_masks, pair_masks


def cost(score, target):
    """Binary cross-entropy of one pair."""
    same = 1 / (1 + math.exp(-score))
    return -target * math.log(same) - (1 - target) * math.log(1 - same)


def mean(values):
    return sum(values) / len(values) if values else 0.0


def triplets(labels):
    """All (anchor, later item of its class, item of another class), as the authors' code enumerates them."""
    everyone = range(len(labels))
    return [
        (anchor, positive, negative)
        for anchor in everyone
        for positive in everyone
        if positive > anchor and labels[positive] == labels[anchor]
        for negative in everyone
        if labels[negative] != labels[anchor]
    ]


def some_scores(count, seed=0):
    return torch.randn(count, count, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def multiplicities(labels):
    """How often each pair is counted, read off the gradient.

    At score 0 each pair pulls or pushes by ½ times its weight among all the triplets.
    """
    scores = torch.zeros(len(labels), len(labels), dtype=torch.double, requires_grad=True)
    masks = pair_masks(torch.tensor(labels))
    pair_likelihood(scores, *masks, weighting="triplets").mean().backward()
    weights = 2 * len(triplets(labels)) * scores.grad
    return [
        {(i, j): round(sign * weights[i, j].item(), 9) for i, j in (mask & (weights != 0)).nonzero().tolist()}
        for sign, mask in zip((-1, 1), masks, strict=True)
    ]


@pytest.mark.parametrize("order", ["both", "one"])
@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1], [0, 1, 0, 2, 1, 0, 3]])
def test_the_mean_share_is_the_sum_of_two_means(order, labels):
    scores, (positive, negative) = some_scores(len(labels)), pair_masks(torch.tensor(labels), order=order)
    expected = mean([cost(score, 1) for score in scores[positive].tolist()])
    expected += mean([cost(score, 0) for score in scores[negative].tolist()])
    assert pair_likelihood(scores, positive, negative).mean().item() == pytest.approx(expected)


def test_a_share_is_what_the_anchors_own_pairs_add():
    labels = torch.tensor([0, 0, 1, 1, 1])
    scores, (positive, negative) = some_scores(5), pair_masks(labels)
    for anchor, share in enumerate(pair_likelihood(scores, positive, negative).tolist()):
        ahead = sum(cost(value, 1) for value in scores[anchor][positive[anchor]].tolist())
        behind = sum(cost(value, 0) for value in scores[anchor][negative[anchor]].tolist())
        assert share == pytest.approx(5 * (ahead / positive.sum().item() + behind / negative.sum().item()))


def test_against_prototypes_the_masks_are_all_that_differs():
    labels = torch.tensor([0, 2, 1, 2])
    scores, (positive, negative) = some_scores(4), class_masks(labels, 4)
    expected = F.binary_cross_entropy_with_logits(scores[positive], torch.ones(4).double())
    expected += F.binary_cross_entropy_with_logits(scores[negative], torch.zeros(12).double())
    torch.testing.assert_close(pair_likelihood(scores, positive, negative).mean(), expected)


@pytest.mark.parametrize("weighting", ["pairs", "triplets"])
@pytest.mark.parametrize(("labels", "target"), [([0, 0, 0], 1), ([0, 1, 2], 0)])
def test_a_kind_of_pair_that_is_missing_adds_nothing(weighting, labels, target):
    scores = some_scores(3).requires_grad_()
    shares = pair_likelihood(scores, *pair_masks(torch.tensor(labels)), weighting=weighting)
    shares.mean().backward()
    assert scores.grad.isfinite().all()
    apart = scores.detach()[~torch.eye(3, dtype=torch.bool)].tolist()
    # One class or no two alike: pairs there are, of one kind; triplets there are none.
    expected = mean([cost(value, target) for value in apart]) if weighting == "pairs" else 0.0
    assert shares.mean().item() == pytest.approx(expected)


def test_five_items_counted_by_hand():
    labels = [0, 0, 1, 1, 1]
    assert len(triplets(labels)) == 9
    positive, negative = multiplicities(labels)
    assert positive == {(0, 1): 3, (2, 3): 2, (2, 4): 2, (3, 4): 2}
    assert negative == {(0, 2): 1, (0, 3): 1, (0, 4): 1, (2, 0): 2, (2, 1): 2, (3, 0): 1, (3, 1): 1}


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1], [1, 0, 1, 2, 0, 1, 3, 2, 1], [0, 0, 0, 1]])
def test_weighting_by_triplets_is_the_mean_over_all_triplets(labels):
    scores = some_scores(len(labels))
    listed = triplets(labels)
    expected = mean([cost(scores[a, p].item(), 1) for a, p, _ in listed])
    expected += mean([cost(scores[a, n].item(), 0) for a, _, n in listed])
    for order in ("both", "one"):
        masks = pair_masks(torch.tensor(labels), order=order)
        share = pair_likelihood(scores, *masks, weighting="triplets").mean()
        assert share.item() == pytest.approx(expected)
    for counts, places in zip(multiplicities(labels), (slice(0, 2), slice(0, 3, 2)), strict=True):
        assert counts == Counter(value[places] for value in listed)


def test_twenty_four_classes_of_five():
    labels = [label for label in range(24) for _ in range(5)]
    listed = torch.tensor(triplets(labels))
    assert len(listed) == 27_600
    positive, negative = multiplicities(labels)
    assert (len(positive), len(negative)) == (240, 11_040)
    assert sum(positive.values()) == sum(negative.values()) == 27_600
    scores, (alike, different) = some_scores(120), pair_masks(torch.tensor(labels), order="one")
    anchors, positives, negatives = listed.T
    expected = F.softplus(-scores[anchors, positives]).mean() + F.softplus(scores[anchors, negatives]).mean()
    ours = pair_likelihood(scores, alike, different, weighting="triplets").mean()
    torch.testing.assert_close(ours, expected)
    # In a balanced batch every positive pair counts alike, as it does without the weighting.
    assert set(positive.values()) == {115}


@pytest.mark.parametrize("weighting", ["pairs", "triplets"])
def test_smoothed_targets_are_drawn_for_each_pair(weighting):
    """Binary cross-entropy of targets drawn with the same seed, weighted as without smoothing."""
    labels, smoothing = [0, 0, 1, 1, 1, 2], 0.2
    scores, (positive, negative) = some_scores(6), pair_masks(torch.tensor(labels))
    drawn = smoothing * torch.rand(6, 6, dtype=torch.double, generator=torch.Generator().manual_seed(7))
    targets = torch.where(positive, 1 - drawn, drawn)
    costs = F.binary_cross_entropy_with_logits(scores, targets, reduction="none")
    if weighting == "pairs":
        expected = costs[positive].mean() + costs[negative].mean()
    else:
        anchors, positives, negatives = torch.tensor(triplets(labels)).T
        expected = costs[anchors, positives].mean() + costs[anchors, negatives].mean()
    generator = torch.Generator().manual_seed(7)
    ours = pair_likelihood(
        scores, positive, negative, smoothing=smoothing, weighting=weighting, generator=generator
    )
    torch.testing.assert_close(ours.mean(), expected)


@pytest.mark.parametrize("smoothing", [0.1, 0.4])
def test_smoothed_targets_fill_their_range(smoothing):
    """The gradient of a pair is sigmoid(score) - target, so the targets can be read off it."""
    labels = torch.arange(120) % 24
    scores = some_scores(120).requires_grad_()
    positive, negative = pair_masks(labels)
    generator = torch.Generator().manual_seed(0)
    pair_likelihood(scores, positive, negative, smoothing=smoothing, generator=generator).mean().backward()
    for mask, low, high in ((positive, 1 - smoothing, 1.0), (negative, 0.0, smoothing)):
        targets = scores.detach()[mask].sigmoid() - scores.grad[mask] * mask.sum()
        assert (targets > low - 1e-9).all()
        assert (targets < high + 1e-9).all()
        assert targets.min() < low + 0.05 * smoothing
        assert targets.max() > high - 0.05 * smoothing
        assert targets.mean().item() == pytest.approx((low + high) / 2, abs=0.05 * smoothing)


def test_targets_are_drawn_anew_each_time_from_the_generator_alone():
    scores, masks = some_scores(5), pair_masks(torch.tensor([0, 0, 1, 1, 1]))
    state = torch.get_rng_state()
    generator = torch.Generator().manual_seed(0)
    first, second = (pair_likelihood(scores, *masks, smoothing=0.2, generator=generator) for _ in range(2))
    assert not torch.equal(first, second)
    again = pair_likelihood(scores, *masks, smoothing=0.2, generator=torch.Generator().manual_seed(0))
    assert torch.equal(first, again)
    assert torch.equal(torch.get_rng_state(), state)


def test_at_its_best_the_score_is_the_log_likelihood_ratio():
    """Pairs fall into three sorts, each with one score. There the gradient vanishes at log(p+/p-), and what
    is left is log 4 - 2 JSD(p+, p-).
    """
    likely = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]], dtype=torch.double)  # of a sort: p+, p-
    ratio = (likely[0] / likely[1]).log().requires_grad_()
    sort = torch.tensor([0] * 5 + [1] * 3 + [2] * 2 + [0] * 1 + [1] * 3 + [2] * 6)
    positive = torch.arange(20)[None] < 10
    least = pair_likelihood(ratio[sort][None], positive, ~positive).mean()
    least.backward()
    torch.testing.assert_close(ratio.grad, torch.zeros(3, dtype=torch.double), atol=1e-12, rtol=0)
    middle = likely.mean(0)
    divergence = (likely * (likely / middle).log()).sum(1).mean().item()
    assert least.item() == pytest.approx(math.log(4) - 2 * divergence)


def test_an_unknown_weighting_is_refused():
    with pytest.raises(SettingError, match='is "pairs" or "triplets"; got "triplet"'):
        pair_likelihood(torch.zeros(2, 2), *pair_masks(torch.tensor([0, 1])), weighting="triplet")


def test_triplets_need_the_anchors_among_the_candidates():
    """Before, a positive counted only where the number of its class was above the anchor's place."""
    masks = class_masks(torch.tensor([0, 1, 2, 3, 0, 1, 2, 3]), 4)
    with pytest.raises(SettingError, match=r'got 4 candidates for 8 anchors, set weighting to "pairs"'):
        pair_likelihood(torch.zeros(8, 4), *masks, weighting="triplets")
    pair_likelihood(torch.zeros(8, 4), *masks)


def test_triplets_count_what_the_memory_holds_as_later():
    labels, past = [0, 0, 1], [1, 0]
    scores = some_scores(5)[:3]
    positive, negative = pair_masks(torch.tensor(labels))
    same = torch.tensor([[one == other for other in past] for one in labels])
    masks = torch.cat([positive, same], 1), torch.cat([negative, ~same], 1)
    listed = [(a, p, n) for a, p, n in triplets([*labels, *past]) if a < 3]
    expected = mean([cost(scores[a, p].item(), 1) for a, p, _ in listed])
    expected += mean([cost(scores[a, n].item(), 0) for a, _, n in listed])
    assert pair_likelihood(scores, *masks, weighting="triplets").mean().item() == pytest.approx(expected)


def test_one_mean_over_the_triplets_is_half_of_the_sum_of_two():
    """The authors feed one positive and one negative for every triplet, and average them all."""
    labels = [0, 1, 0, 2, 1, 0, 3]
    scores, masks = some_scores(len(labels)), pair_masks(torch.tensor(labels))
    fed = [(scores[a, p].item(), 1) for a, p, _ in triplets(labels)]
    fed += [(scores[a, n].item(), 0) for a, _, n in triplets(labels)]
    value = pair_likelihood(scores, *masks, weighting="triplets", total="mean").mean().item()
    assert value == pytest.approx(mean([cost(score, target) for score, target in fed]))
    plain, halved = (pair_likelihood(scores, *masks, total=total) for total in ("sum", "mean"))
    torch.testing.assert_close(halved, plain / 2)
    with pytest.raises(SettingError, match='their "sum" or their "mean"; got "half"'):
        pair_likelihood(scores, *masks, total="half")
