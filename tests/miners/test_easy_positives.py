"""Easy positives against a loop over anchors."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.miners import easy_positives
from samekind.pairs import pair_masks


@settings(max_examples=30)
@given(seed=st.integers(0, 2**31), labels=st.lists(st.integers(0, 2), min_size=1, max_size=8))
def test_each_anchor_keeps_the_nearest_of_its_positives_and_all_negatives(seed, labels):
    count = len(labels)
    scores = torch.randn(count, count, generator=torch.Generator().manual_seed(seed))
    masks = pair_masks(torch.tensor(labels))
    rows, positive, negative = easy_positives(scores, *masks)
    assert rows.tolist() == list(range(count))
    assert torch.equal(negative, masks[1])
    for anchor in range(count):
        others = [i for i in range(count) if labels[i] == labels[anchor] and i != anchor]
        nearest = [max(others, key=lambda i: scores[anchor, i].item())] if others else []
        assert positive[anchor].nonzero().flatten().tolist() == nearest


def test_of_two_as_near_the_first_is_kept():
    positive = torch.tensor([[False, True, True, False]])
    _, ahead, _ = easy_positives(torch.tensor([[9.0, 1.0, 1.0, 0.0]]), positive, ~positive)
    assert ahead.int().tolist() == [[0, 1, 0, 0]]
