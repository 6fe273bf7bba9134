"""The triplets by their gap against a loop over all of them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.miners import semi_hard, triplet_margin
from samekind.pairs import pair_masks

KINDS = {
    "all": lambda gap, margin: gap <= margin,
    "hard": lambda gap, margin: gap <= min(0, margin),
    "semi-hard": lambda gap, margin: 0 < gap <= margin,
    "easy": lambda gap, margin: gap > margin,
}


def by_hand(scores, labels, triplets, margin):
    return {
        (a, p, n)
        for a in range(len(labels))
        for p in range(len(labels))
        for n in range(len(labels))
        if a != p
        and labels[a] == labels[p] != labels[n]
        and KINDS[triplets]((scores[a, p] - scores[a, n]).item(), margin)
    }


def mined(rows, positive, negative):
    assert (positive.sum(1) == 1).all()
    assert negative.any(1).all()
    row, rivals = negative.nonzero(as_tuple=True)
    return set(zip(rows[row].tolist(), positive.int().argmax(1)[row].tolist(), rivals.tolist(), strict=True))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    labels=st.lists(st.integers(0, 2), min_size=1, max_size=7),
    triplets=st.sampled_from(list(KINDS)),
    margin=st.sampled_from([0.0, 0.25, 0.5]),
)
def test_agrees_with_the_definition(seed, labels, triplets, margin):
    """Scores in quarters, so that gaps of exactly 0 and of the margin happen."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(-4, 5, (len(labels), len(labels)), generator=generator) / 4
    result = triplet_margin(scores, *pair_masks(torch.tensor(labels)), margin=margin, triplets=triplets)
    assert mined(*result) == by_hand(scores, labels, triplets, margin)


def test_semi_hard_is_the_other_miner():
    scores = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))
    masks = pair_masks(torch.arange(8) % 3)
    ours = triplet_margin(scores, *masks, margin=0.4, triplets="semi-hard")
    assert all(map(torch.equal, ours, semi_hard(scores, *masks, margin=0.4)))


def test_refuses_other_triplets():
    with pytest.raises(SettingError, match='"semi-hard" or "easy"; got "semihard"'):
        triplet_margin(torch.zeros(2, 2), *pair_masks(torch.tensor([0, 1])), triplets="semihard")
