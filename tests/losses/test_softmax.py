"""Softmax against a loop, against torch's cross-entropy, and at known numbers."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from samekind.errors import SettingError
from samekind.losses import additive_margin, arc_face, proxy_nca, soft_triple, softmax, sphere_face
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import LogDistance, SquaredEuclidean


def by_hand(scores, positive, negative, scale=1.0, smoothing=0.0, spread="others"):
    """For each positive, the cross-entropy of that positive and all negatives with its smoothed target."""
    shares = []
    for row, ahead, behind in zip(scores.tolist(), positive.tolist(), negative.tolist(), strict=True):
        rivals = [scale * score for score, is_one in zip(row, behind, strict=True) if is_one]
        costs = []
        for score, is_positive in zip(row, ahead, strict=True):
            if not is_positive or not rivals:
                continue
            logits = [scale * score, *rivals]
            total = math.log(sum(math.exp(logit) for logit in logits))
            if spread == "others":
                targets = [1 - smoothing, *[smoothing / len(rivals)] * len(rivals)]
            else:
                part = smoothing / len(logits)
                targets = [1 - smoothing + part, *[part] * len(rivals)]
            assert sum(targets) == pytest.approx(1)
            costs.append(sum(t * (total - logit) for t, logit in zip(targets, logits, strict=True)))
        shares.append(sum(costs) / len(costs) if costs else 0.0)
    return torch.tensor(shares, dtype=scores.dtype)


def some_scores(items, classes, seed=0):
    return torch.randn(items, classes, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**31),
    anchors=st.integers(1, 5),
    candidates=st.integers(1, 8),
    scale=st.sampled_from([1.0, 0.5, 20.0]),
    smoothing=st.sampled_from([0.0, 0.2, 0.9]),
    spread=st.sampled_from(["others", "all"]),
)
def test_agrees_with_the_definition(seed, anchors, candidates, scale, smoothing, spread):
    generator = torch.Generator().manual_seed(seed)
    scores = some_scores(anchors, candidates, seed)
    role = torch.randint(3, scores.shape, generator=generator)
    masks = role == 0, role == 1
    ours = softmax(scores, *masks, scale=scale, smoothing=smoothing, spread=spread)
    torch.testing.assert_close(ours, by_hand(scores, *masks, scale, smoothing, spread))


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_over_prototypes_it_is_torchs_cross_entropy(scale, smoothing):
    """Torch spreads the smoothing over all K classes, the true one too."""
    labels = torch.tensor([0, 2, 2, 4, 1])
    ours, torchs = some_scores(5, 6).requires_grad_(), some_scores(5, 6).requires_grad_()
    shares = softmax(ours, *class_masks(labels, 6), scale=scale, smoothing=smoothing, spread="all")
    expected = F.cross_entropy(scale * torchs, labels, label_smoothing=smoothing, reduction="none")
    torch.testing.assert_close(shares, expected)
    shares.mean().backward()
    expected.mean().backward()
    torch.testing.assert_close(ours.grad, torchs.grad)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.2])
def test_by_default_the_smoothing_goes_to_the_other_classes(smoothing):
    """1 - smoothing for the class itself and smoothing / (K - 1) for each other, as Monteiro et al. do."""
    labels, classes = torch.tensor([0, 2, 2, 4, 1]), 6
    scores = some_scores(5, classes)
    targets = torch.full((5, classes), smoothing / (classes - 1), dtype=torch.double)
    targets[torch.arange(5), labels] = 1 - smoothing
    expected = -(targets * scores.log_softmax(1)).sum(1)
    torch.testing.assert_close(softmax(scores, *class_masks(labels, classes), smoothing=smoothing), expected)


def test_the_two_ways_to_spread_are_one_at_another_strength():
    """ε over all K leaves ε (K - 1) / K to the others."""
    labels, classes = torch.tensor([0, 2, 2, 4, 1]), 6
    scores, masks = some_scores(5, classes), class_masks(labels, classes)
    torch.testing.assert_close(
        softmax(scores, *masks, smoothing=0.3, spread="all"),
        softmax(scores, *masks, smoothing=0.3 * 5 / 6, spread="others"),
    )


@pytest.mark.parametrize(("classes", "floor"), [(51, 1.00951), (98, 1.10892), (100, 1.11198)])
def test_smoothing_leaves_a_known_floor(classes, floor):
    """The least a smoothed share can be, the entropy of its target, reached at the target's logarithm."""
    targets = torch.full((1, classes), 0.15 / (classes - 1), dtype=torch.double)
    targets[0, 0] = 0.85
    scores = targets.log().requires_grad_()
    share = softmax(scores, *class_masks(torch.tensor([0]), classes), smoothing=0.15)
    share.sum().backward()
    assert share.item() == pytest.approx(floor, abs=1e-5)
    torch.testing.assert_close(scores.grad, torch.zeros_like(scores), atol=1e-12, rtol=0)


def test_costs_of_distances_at_the_documents_numbers():
    """An item at distances 1 and 2 from its class and another; then at 2 and 4."""
    item, masks = torch.zeros(1, 2, dtype=torch.double), class_masks(torch.tensor([0]), 2)
    for factor, ratio, squared in [(1, 0.2231436, 0.0485874), (2, 0.2231436, 6.14419e-06)]:
        prototypes = factor * torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.double)
        scores = LogDistance().score_all(prototypes, item).T
        assert softmax(scores, *masks, scale=2).item() == pytest.approx(ratio, abs=1e-7)
        scores = SquaredEuclidean().score_all(prototypes, item).T
        assert softmax(scores, *masks).item() == pytest.approx(squared, rel=1e-5)


def test_over_the_batch_each_positive_meets_all_negatives_alone():
    """Another positive of the same anchor is no rival."""
    scores = torch.tensor([[0.0, 2.0, 50.0, 1.0]])
    positive = torch.tensor([[False, True, True, False]])
    negative = torch.tensor([[False, False, False, True]])
    expected = (math.log1p(math.exp(-1.0)) + 0.0) / 2
    assert softmax(scores, positive, negative).item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_without_a_positive_or_without_a_negative_it_costs_nothing(labels):
    masks = pair_masks(torch.tensor(labels))
    scores = torch.rand(3, 3).requires_grad_()
    shares = softmax(scores, *masks, smoothing=0.2)
    shares.sum().backward()
    assert (shares == 0).all()
    assert (scores.grad == 0).all()


def test_adding_to_all_scores_changes_nothing():
    masks = class_masks(torch.tensor([0, 1]), 3)
    scores = some_scores(2, 3)
    torch.testing.assert_close(
        softmax(scores + 100, *masks, smoothing=0.2), softmax(scores, *masks, smoothing=0.2)
    )


def test_an_unknown_spread_is_refused():
    with pytest.raises(SettingError, match='is "others" or "all"; got "everyone"'):
        softmax(torch.zeros(1, 2), *class_masks(torch.tensor([0]), 2), spread="everyone")


each_loss = pytest.mark.parametrize(
    "loss",
    [softmax, additive_margin, arc_face, sphere_face, soft_triple, proxy_nca],
    ids=lambda case: case.__name__,
)


@each_loss
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_targets_say_what_the_masks_say(loss, classes):
    labels = torch.arange(8) % classes
    scores = some_scores(8, classes).tanh().requires_grad_()
    masks = class_masks(labels, classes)
    told, seen = loss(scores, *masks, targets=labels), loss(scores, *masks)
    assert torch.equal(told, seen)
    ours, theirs = (torch.autograd.grad(shares.sum(), scores)[0] for shares in (told, seen))
    assert torch.equal(ours, theirs)


@each_loss
def test_targets_make_looking_at_the_masks_needless(loss, monkeypatch):
    labels = torch.tensor([0, 2, 1])
    masks = class_masks(labels, 3)
    monkeypatch.setattr(torch.Tensor, "count_nonzero", None)
    assert loss(some_scores(3, 3).tanh(), *masks, targets=labels).isfinite().all()


class Shortened(TorchDispatchMode):
    """Matrix products as a GPU makes them with tf32: of numbers with ten binary digits after the point."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function in (torch.ops.aten.mm.default, torch.ops.aten.mv.default):
            args = [((value.view(torch.int32) + 2**12) & -(2**13)).view(torch.float) for value in args]
        return function(*args, **(kwargs or {}))


def test_the_stand_in_for_tf32_rounds():
    numbers = torch.tensor([[2047.0], [2048.0], [2049.0], [2051.0]])
    with Shortened():
        assert (numbers @ torch.ones(1, 1))[:, 0].tolist() == [2047, 2048, 2050, 2052]


@each_loss
def test_classes_beyond_the_digits_of_a_shortened_product_are_found(loss):
    labels, classes = torch.tensor([2049, 4095, 0, 4096]), 4097
    scores, masks = some_scores(4, classes).float().tanh(), class_masks(labels, classes)
    with Shortened():
        seen = loss(scores, *masks)
    assert torch.equal(seen, loss(scores, *masks, targets=labels))


def test_as_many_positives_as_anchors_need_not_be_one_each():
    positive = torch.tensor([[True, True, False], [False, False, False], [False, False, True]])
    scores = some_scores(3, 3)
    torch.testing.assert_close(softmax(scores, positive, ~positive), by_hand(scores, positive, ~positive))


@pytest.mark.parametrize("spread", ["others", "all"])
def test_targets_do_not_matter_to_a_smoothing_beyond_a_half(spread):
    labels = torch.tensor([0, 2, 1])
    masks, scores = class_masks(labels, 3), some_scores(3, 3)
    told = softmax(scores, *masks, smoothing=0.9, spread=spread, targets=labels)
    torch.testing.assert_close(told, by_hand(scores, *masks, smoothing=0.9, spread=spread))
