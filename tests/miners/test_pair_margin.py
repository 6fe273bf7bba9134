"""Pairs beyond their margins, against a loop over pairs."""

import torch

from samekind.miners import pair_margin
from samekind.pairs import pair_masks


def test_agrees_with_the_definition():
    labels = torch.tensor([0, 0, 0, 1, 1, 2])
    distances = torch.rand(6, 6, generator=torch.Generator().manual_seed(0))
    rows, positive, negative = pair_margin(-distances, *pair_masks(labels), positive_margin=0.4, margin=0.6)
    assert rows.tolist() == list(range(6))
    for a in range(6):
        for c in range(6):
            same = labels[a] == labels[c]
            assert positive[a, c] == (a != c and same and distances[a, c] > 0.4)
            assert negative[a, c] == (not same and distances[a, c] < 0.6)


def test_a_pair_at_its_margin_is_left_out():
    positive = torch.tensor([[True, False]])
    for distances in ([0.25, 0.75], [0.0, 1.0]):
        scores = -torch.tensor([distances])
        _, ahead, behind = pair_margin(scores, positive, ~positive, positive_margin=0.25, margin=0.75)
        assert not ahead.any()
        assert not behind.any()
