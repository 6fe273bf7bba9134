"""What every miner promises, checked on all of them; a new one is covered by being exported."""

import functools
import inspect
import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import losses, miners
from samekind.pairs import pair_masks

# What a miner cannot do without.
NEEDED = {"dimension": 8}

# A batch well apart has no semi-hard negative, no informative pair and no wide angle, and the papers' value
# is then 0; one pair each needs two classes that have one.
MAY_LEAVE_NOTHING = {"angular", "informative", "one_pair", "pair_margin", "semi_hard", "triplet_margin"}

# An item switched to be its own positive was none before.
MASKS_OF_ITS_OWN = {"rho_switch"}


def some_batch(seed, anchors, candidates, dtype=torch.float32):
    """Scores, and masks in which a candidate is a positive, a negative or neither."""
    generator = torch.Generator().manual_seed(seed)
    role = torch.randint(3, (anchors, candidates), generator=generator)
    return torch.randn(anchors, candidates, generator=generator).to(dtype), role == 0, role == 1


def triplets(positive, negative):
    return int((positive.sum(1) * negative.sum(1)).sum())


def mining(name):
    """The miner of that name, with what it needs."""
    function = getattr(miners, name)
    taken = inspect.signature(function).parameters
    return functools.partial(function, **{name: value for name, value in NEEDED.items() if name in taken})


@pytest.fixture(params=miners.__all__)
def name(request):
    return request.param


@pytest.fixture
def miner(name):
    return mining(name)


def test_takes_scores_two_masks_and_a_generator(name):
    parameters = inspect.signature(getattr(miners, name)).parameters
    assert list(parameters)[:3] == ["scores", "positive", "negative"]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in list(parameters.values())[3:])
    assert "generator" in parameters
    rest = list(parameters.values())[3:]
    needed = {parameter.name for parameter in rest if parameter.default is parameter.empty}
    assert needed <= NEEDED.keys()


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), anchors=st.integers(0, 6), candidates=st.integers(1, 7))
@pytest.mark.parametrize("name", miners.__all__)
def test_rows_are_anchors_and_their_masks_part_of_what_was_given(name, seed, anchors, candidates):
    candidates = anchors if name in miners.BATCH_ONLY else candidates
    scores, positive, negative = some_batch(seed, anchors, candidates)
    rows, ahead, behind = mining(name)(scores, positive, negative)
    assert rows.dtype == torch.int64
    assert rows.dim() == 1
    assert ((rows >= 0) & (rows < anchors)).all()
    assert ahead.dtype == behind.dtype == torch.bool
    assert ahead.shape == behind.shape == (len(rows), candidates)
    if name not in MASKS_OF_ITS_OWN:
        assert (ahead <= positive[rows]).all()
        assert (behind <= negative[rows]).all()
    # Where there is something to learn from, something is left.
    left, given = triplets(ahead, behind) > 0, triplets(positive, negative) > 0
    assert left <= given if name in MAY_LEAVE_NOTHING else left == given


def test_mines_alike_twice_and_leaves_all_it_was_given_alone(miner):
    batch = some_batch(0, 7, 7)
    before, state = [tensor.clone() for tensor in batch], torch.get_rng_state()
    first = miner(*batch, generator=torch.Generator().manual_seed(1))
    second = miner(*batch, generator=torch.Generator().manual_seed(1))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    assert all(torch.equal(one, other) for one, other in zip(batch, before, strict=True))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 2]])
def test_takes_ties_and_batches_without_positives_or_negatives(name, labels):
    masks = pair_masks(torch.tensor(labels))
    for dtype, value in itertools.product((torch.float32, torch.bfloat16), (0.0, 1e4, -1e4)):
        rows, ahead, behind = mining(name)(torch.full((4, 4), value, dtype=dtype), *masks)
        left, given = triplets(ahead, behind) > 0, triplets(*masks) > 0
        assert left <= given if name in MAY_LEAVE_NOTHING else left == given, (dtype, value)
        assert len(rows) == len(ahead) == len(behind), (dtype, value)


def test_every_loss_takes_what_comes_back(miner):
    for loss_name in losses.__all__:
        scores, positive, negative = some_batch(0, 7, 7)
        scores = (scores / 4).requires_grad_()
        rows, positive, negative = miner(scores.detach(), positive, negative)
        loss = getattr(losses, loss_name)
        handed = {"between": torch.randn(7, 7, generator=torch.Generator().manual_seed(1)) / 4}
        taken = inspect.signature(loss).parameters
        if {"lineage", "distances"} & set(taken):
            continue  # by the tree of the classes, of which none is mined
        given = {name: value for name, value in handed.items() if name in taken}
        shares = loss(scores[rows], positive, negative, **given)
        shares.mean().backward()
        assert shares.shape == rows.shape, loss_name
        assert shares.isfinite().all(), loss_name
        assert scores.grad.isfinite().all(), loss_name
