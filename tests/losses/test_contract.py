"""What every loss promises, checked on all of them; a new loss is covered by being exported."""

import functools
import inspect
import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from samekind import losses, similarities
from samekind.losses import FROM_TREE, row_blocks
from samekind.losses.lineage import Lineage
from samekind.pairs import class_masks, pair_masks

# Label 3 is alone: as a pair it has no positive.
LABELS = {
    "several classes": torch.tensor([0, 0, 0, 1, 1, 2, 2, 3]),
    "one class": torch.zeros(8, dtype=torch.long),
    "no two alike": torch.arange(8),
}

# Scores a batch can come to. Where the kind of score allows less (a cosine), the loss must cope all the same.
SCORES = {
    "usual": torch.linspace(-0.95, 0.95, 8),
    "huge": torch.full((8,), 1e4),
    "hugely negative": torch.full((8,), -1e4),
    "huge of both signs": torch.tensor([1e4, -1e4] * 4),
    "tiny": torch.tensor([1e-30, -1e-30] * 4),
    "tied": torch.full((8,), 0.5),
    "zero": torch.zeros(8),
}

SETTINGS = ("pairs", "prototypes")

# What a loss does not promise, by its formula, and why; what holds instead is shown in its own tests.
NOT_ONE_WAY = {
    "conditional_softmax": "a near class raises the score of the node above both: it is drawn nearer",
    "corr": "looks at positives alone: nothing pushes",
    "fast_ap": "a positive counts by the precision of its bin: it may leave a bin for a better one behind",
    "hxe": "the coarser nodes count more, so that a near class is drawn nearer",
    "intra_pair_variance": "draws the scores of a kind towards their mean, from both sides",
    "soft_labels": "a part of the target is left to near classes",
    "proxy_nca": "a smoothed target leaves a part to the other classes: a far one is drawn nearer",
    "supervised_contrastive": "positives are rivals too: the closest of several may be pushed",
}
NOT_THE_SLOPE = dict.fromkeys(
    ("circle", "ranked_list"), "the weights are constants to the gradient, as in the paper"
)
LARGER = {"conditional_softmax": "computes a number for each node of the tree"}
NOT_APART = {"intra_pair_variance": "looks at the spread of each kind alone"}

# Settings with which scores from -0.9 to 0.9 cost something: the papers' are for distances up to 2.
GIVEN = {"margin_based": {"boundary": 0.3}, "ranked_list": {"boundary": 0.4}}
# Settings whose arithmetic is another one than that of the default.
OTHER_SETTINGS = {
    "contrastive": {"weighting": "kinds"},
    "corr": {"squared": True},
    "hxe": {"weighting": "height", "normalise": True},
    "soft_labels": {"relative": True},
    "proxy_nca": {"denominator": "others", "smoothing": 0.0},
    "softmax": {"smoothing": 0.2},
    "triplet": {"soft": True},
}


@pytest.fixture(params=losses.__all__)
def loss(request):
    return as_called(request.param)


@pytest.fixture(params=[*losses.__all__, *(f"{name}, otherwise" for name in OTHER_SETTINGS)])
def loss_as_set(request):
    name, *otherwise = request.param.split(", ")
    if not otherwise:
        return as_called(name)
    return functools.update_wrapper(
        functools.partial(as_called(name), **OTHER_SETTINGS[name]), getattr(losses, name)
    )


def batches():
    """Scores, which may be cosines, and masks: of pairs, and of items and prototypes."""
    for setting in SETTINGS:
        masks = masks_for(LABELS["several classes"], setting)
        yield scores_like(masks[0]).requires_grad_(), *masks


def keywords(name):
    return inspect.signature(getattr(losses, name)).parameters


def goes_by_tree(name):
    """Its candidates have their places in a tree, which would have to be moved with them."""
    return any(need in keywords(name) for need in FROM_TREE)


def as_called(name):
    """The loss as the training step calls it: with its settings, and the scores between candidates if it asks
    for them.
    """
    loss = getattr(losses, name)
    if name in GIVEN:
        return functools.wraps(loss)(functools.partial(loss, **GIVEN[name]))
    needs = [need for need in ("between", *FROM_TREE) if need in keywords(name)]
    if not needs:
        return loss

    @functools.wraps(loss)
    def handed(scores, positive, negative, **settings):
        given = {need: HANDED[need](scores, positive, negative) for need in needs}
        return loss(scores, positive, negative, **given, **settings)

    return handed


def between_for(positive, negative):
    """Candidates that most anchors see alike score high; two of one class, or of unknown class, -inf.

    They are of two classes where an anchor has one as a positive and the other as a negative.
    """
    ahead, behind = positive.double(), negative.double()
    alike = (ahead - behind).T @ (ahead - behind) / max(1, len(positive))
    two_classes = ahead.T @ behind + behind.T @ ahead > 0
    return alike.where(two_classes, -torch.inf)


@functools.cache
def lineage_for(candidates):
    """Two candidates a node, one of them a class at an inner node, and some branches deeper than others."""
    parents, places = [-1], []
    for place in range(candidates):
        if place % 2 == 0:
            parents.append(len(parents) - 1 if place % 4 else 0)
        if place != 3:
            parents.append(len(parents) - 1)
        places.append(len(parents) - 1)
    return Lineage.of(parents, places)


@functools.cache
def distances_for(candidates):
    """Path distances in that tree."""
    lineage = lineage_for(candidates)
    members = lineage.members.double()
    depths = lineage.depths[lineage.chains[:, 0]].double()
    return depths[:, None] + depths - 2 * (members.T @ members - 1)


HANDED = {
    "between": lambda scores, positive, negative: between_for(positive, negative).to(scores.dtype),
    "distances": lambda scores, *_: distances_for(scores.shape[-1]),
    "lineage": lambda scores, *_: lineage_for(scores.shape[-1]),
}


def masks_for(labels, setting):
    return pair_masks(labels) if setting == "pairs" else class_masks(labels, classes=10)


def scores_like(mask, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(mask.shape, dtype=torch.double, generator=generator) * 1.8 - 0.9


class Largest(TorchDispatchMode):
    """Notes the most numbers that any one tensor made inside has."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, torch.Tensor):
                self.numbers = max(self.numbers, value.numel())
        return result


def test_takes_scores_and_two_masks_and_names_the_rest(loss):
    first, *rest = inspect.signature(loss).parameters.values()
    assert [parameter.name for parameter in [first, *rest[:2]]] == ["scores", "positive", "negative"]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in rest[2:])
    assert all(parameter.default is not inspect.Parameter.empty for parameter in rest[2:])


def test_the_scores_it_accepts_exist():
    quantities = {getattr(similarities, name).quantity for name in similarities.SIMILARITIES}
    assert set(losses.ACCEPTS) <= set(losses.__all__)
    for accepted in losses.ACCEPTS.values():
        assert accepted
        assert set(accepted) <= quantities


def test_gives_one_finite_share_per_anchor(loss):
    for batch in batches():
        shares = loss(*batch)
        assert shares.shape == batch[0].shape[:1]
        assert shares.dtype == batch[0].dtype
        assert shares.isfinite().all()
        assert (shares >= 0).all()
        assert shares.sum() > 0


def test_pulls_positives_and_pushes_negatives(loss):
    if loss.__name__ in NOT_ONE_WAY:
        pytest.skip(NOT_ONE_WAY[loss.__name__])
    for scores, positive, negative in batches():
        loss(scores, positive, negative).sum().backward()
        assert (scores.grad[positive] <= 0).all()
        assert (scores.grad[negative] >= 0).all()
        assert (scores.grad[~positive & ~negative] == 0).all()
        assert (scores.grad[positive] < 0).any()
        assert (scores.grad[negative] > 0).any()


def test_costs_less_where_the_classes_are_well_apart(loss):
    if loss.__name__ in NOT_APART:
        pytest.skip(NOT_APART[loss.__name__])
    for _, positive, negative in batches():
        right = 0.9 * (positive.double() - negative.double())
        assert loss(right, positive, negative).sum() < loss(-right, positive, negative).sum()


def test_costs_nothing_where_there_is_nothing_to_compare(loss):
    scores, nobody = torch.rand(2, 3, requires_grad=True), torch.zeros(2, 3, dtype=torch.bool)
    shares = loss(scores, nobody, nobody)
    shares.sum().backward()
    assert (shares == 0).all()
    assert (scores.grad == 0).all()


def test_an_anchor_with_nothing_to_compare_costs_nothing_among_others(loss):
    for scores, positive, negative in batches():
        positive, negative = positive.clone(), negative.clone()
        positive[2] = negative[2] = False
        shares = loss(scores, positive, negative)
        shares.sum().backward()
        assert shares[2] == 0
        assert (scores.grad[2] == 0).all()
        assert scores.grad.isfinite().all()
        assert shares.sum() > 0


def test_an_empty_batch_or_one_without_candidates_costs_nothing(loss):
    for shape in ((0, 5), (3, 0), (0, 0)):
        nobody = torch.zeros(shape, dtype=torch.bool)
        shares = loss(torch.zeros(shape), nobody, nobody)
        assert shares.shape == shape[:1]
        assert (shares == 0).all()


@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), setting=st.sampled_from(SETTINGS))
@pytest.mark.parametrize("name", [name for name in losses.__all__ if not goes_by_tree(name)])
def test_does_not_care_about_the_order_of_candidates(name, seed, setting):
    loss = as_called(name)
    masks = masks_for(LABELS["several classes"], setting)
    batch = scores_like(masks[0], seed), *masks
    shuffle = torch.randperm(batch[0].shape[1], generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(loss(*batch), loss(*(tensor[:, shuffle] for tensor in batch)))


def test_the_order_of_anchors_only_orders_the_shares(loss):
    for batch in batches():
        turned = loss(*(tensor.flip(0) for tensor in batch))
        torch.testing.assert_close(turned.flip(0), loss(*batch))


def test_does_not_care_how_the_scores_lie_in_memory(loss):
    """The scores of classes come as the transpose of prototypes against items."""
    for batch in batches():
        across = [tensor.detach().T.contiguous().T for tensor in batch]
        assert not across[0].is_contiguous()
        torch.testing.assert_close(loss(*across), loss(*batch))


def test_has_the_gradient_it_claims(loss):
    if loss.__name__ in NOT_THE_SLOPE:
        pytest.skip(NOT_THE_SLOPE[loss.__name__])
    for scores, positive, negative in batches():
        of_scores = functools.partial(loss, positive=positive, negative=negative)
        assert torch.autograd.gradcheck(of_scores, scores)


@pytest.mark.parametrize("block", [row_blocks.BLOCK, 30], ids=["at once", "in blocks"])
def test_has_the_second_derivatives_of_its_gradient(loss_as_set, block, monkeypatch):
    """A gradient that autograd cannot follow would silently give zeros."""
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    loss = loss_as_set
    if loss.__name__ in NOT_THE_SLOPE:
        pytest.skip(NOT_THE_SLOPE[loss.__name__])
    for scores, positive, negative in batches():

        def total(leaf, positive=positive, negative=negative):
            return loss(leaf, positive, negative).square().sum()

        assert_hessian_is_that_of_the_gradient(total, scores)


@pytest.mark.parametrize("name", [name for name in losses.__all__ if "scale" in keywords(name)])
def test_has_the_second_derivatives_of_a_learned_scale(name):
    for scores, positive, negative in batches():

        def total(leaf, name=name, positive=positive, negative=negative):
            return as_called(name)(leaf[1:].view(positive.shape), positive, negative, scale=leaf[0]).sum()

        leaf = torch.cat([torch.tensor([2.0], dtype=torch.double), scores.detach().flatten()])
        assert_hessian_is_that_of_the_gradient(total, leaf)


def assert_hessian_is_that_of_the_gradient(total, leaf):
    """In a few directions: twice differentiated against the difference of two gradients."""
    leaf = leaf.detach()
    for seed in range(3):
        direction = torch.randn(leaf.shape, dtype=leaf.dtype, generator=torch.Generator().manual_seed(seed))
        _, product = torch.autograd.functional.vhp(total, leaf, direction)
        near = [(leaf + sign * 1e-7 * direction).requires_grad_() for sign in (1, -1)]
        ahead, behind = (torch.autograd.grad(total(point), point)[0] for point in near)
        torch.testing.assert_close(product, (ahead - behind) / 2e-7, rtol=1e-4, atol=1e-5)


def test_goes_through_the_transforms_of_torch_func(loss_as_set, monkeypatch):
    """Values and gradients of three matrices at once, and second derivatives, as one by one and in blocks."""
    monkeypatch.setattr(row_blocks, "BLOCK", 30)
    loss = loss_as_set
    for scores, *masks in batches():
        several = torch.stack([scores_like(scores, seed) for seed in range(3)])

        def total(leaf, masks=masks):
            return loss(leaf, *masks).square().sum()

        leaves = [leaf.clone().requires_grad_() for leaf in several]
        expected = torch.stack([loss(leaf, *masks) for leaf in leaves])
        torch.testing.assert_close(torch.vmap(loss, in_dims=(0, None, None))(several, *masks), expected)
        gradients = torch.stack([torch.autograd.grad(total(leaf), leaf)[0] for leaf in leaves])
        torch.testing.assert_close(torch.vmap(torch.func.grad(total))(several), gradients)
        if loss.__name__ not in NOT_THE_SLOPE:
            twice = torch.func.jacrev(torch.func.grad(total))(several[0])
            direction = scores_like(scores, 7)
            _, product = torch.autograd.functional.vhp(total, several[0], direction)
            torch.testing.assert_close((twice * direction).sum((2, 3)), product)


def test_says_why_masks_cannot_be_mapped_over(loss):
    scores, *masks = next(iter(batches()))
    several = [torch.stack([tensor.detach()] * 2) for tensor in (scores, *masks)]
    with pytest.raises(
        ValueError, match=r"expected positive to be the same for all .*in_dims=\(0, None, None\)"
    ):
        torch.vmap(loss)(*several)
    with pytest.raises(ValueError, match="expected positive to be the same for all"):
        torch.vmap(torch.func.grad(lambda *batch: loss(*batch).sum()))(*several)


@pytest.mark.parametrize("value", [-math.inf, math.inf, math.nan])
def test_ignores_what_is_in_neither_mask(loss_as_set, value):
    """Padding: whatever these cells hold, shares and gradients stay, the gradient of a learned scale too."""
    loss = loss_as_set
    for scores, positive, negative in batches():
        neither = torch.rand(positive.shape, generator=torch.Generator().manual_seed(1)) < 0.2
        positive, negative = positive & ~neither, negative & ~neither
        results = []
        for filling in (0.0, value):
            leaf = scores.detach().masked_fill(~(positive | negative), filling).requires_grad_()
            handed, leaves = {}, [leaf]
            if "scale" in keywords(loss.__name__):
                handed["scale"] = torch.tensor(2.0, dtype=torch.double, requires_grad=True)
                leaves.append(handed["scale"])
            shares = loss(leaf, positive, negative, **handed)
            results.append([shares, *torch.autograd.grad(shares.square().sum(), leaves)])
        assert results[0][0].sum() > 0
        for padded, plain in zip(results[1], results[0], strict=True):
            assert torch.equal(padded, plain)


def test_leaves_its_arguments_and_the_global_generator_alone(loss):
    for batch in batches():
        before, state = [tensor.detach().clone() for tensor in batch], torch.get_rng_state()
        first = loss(*batch)
        assert torch.equal(first, loss(*batch))
        assert all(torch.equal(tensor, old) for tensor, old in zip(batch, before, strict=True))
        assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nothing_a_batch_can_hold_gives_nan_or_infinity(loss, dtype):
    offences = []
    for setting, labels, values in itertools.product(SETTINGS, LABELS, SCORES):
        positive, negative = masks_for(LABELS[labels], setting)
        # so that each kind of candidate meets each value
        for shift in range(min(3, len(SCORES[values].unique()))):
            row = SCORES[values].roll(shift).to(dtype)
            scores = row.repeat(8, 2)[:, : positive.shape[1]].requires_grad_()
            shares = loss(scores, positive, negative)
            shares.sum().backward()
            assert shares.dtype == scores.grad.dtype == dtype
            finite = shares.isfinite().all() and scores.grad.isfinite().all()
            if not finite or (shares < 0).any():
                offences.append((setting, labels, values, shift, shares, scores.grad))
    assert offences == []


def test_half_precision_costs_what_the_same_scores_cost_in_full(loss):
    """Up to the rounding of the answer: logits in the tens must not eat the digits of the share."""
    for scores, *masks in batches():
        handed = {"scale": 30.0} if "scale" in keywords(loss.__name__) else {}
        rough = scores.detach().bfloat16().requires_grad_()
        full = rough.detach().double().requires_grad_()
        shares, expected = loss(rough, *masks, **handed), loss(full, *masks, **handed)
        shares.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close(shares.double(), expected, atol=0.005, rtol=0.01)
        torch.testing.assert_close(rough.grad.double(), full.grad, atol=0.005, rtol=0.01)


def test_makes_nothing_larger_than_the_scores(loss, monkeypatch):
    """One more column than there are scores is allowed, for sums that begin with nothing. There are fewer
    candidates than anchors, as a loss may be given the scores between candidates. What fits into a block
    is computed at once; so here a block holds no more than the scores.
    """
    if loss.__name__ in LARGER:
        pytest.skip(LARGER[loss.__name__])
    anchors, candidates = 40, 30
    monkeypatch.setattr(row_blocks, "BLOCK", anchors * candidates)
    positive = torch.arange(anchors)[:, None] % 3 == torch.arange(candidates) % 3
    scores = scores_like(positive).requires_grad_()
    distances_for(candidates)  # the tree is made once for all steps
    with Largest() as largest:
        loss(scores, positive, ~positive).sum().backward()
    assert anchors * candidates <= largest.numbers <= anchors * (candidates + 1)


@pytest.mark.parametrize("name", [name for name in losses.__all__ if "scale" in keywords(name)])
def test_a_scale_may_be_learned(name):
    for batch in batches():
        loss = as_called(name)
        scale = torch.tensor(math.e, requires_grad=True)
        shares = loss(*batch, scale=scale)
        shares.sum().backward()
        assert scale.grad != 0
        torch.testing.assert_close(shares, loss(*batch, scale=math.e))
