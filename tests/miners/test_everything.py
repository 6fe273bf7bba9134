"""Mining nothing changes nothing."""

import torch

from samekind.losses import triplet
from samekind.miners import everything
from samekind.pairs import pair_masks


def test_every_anchor_keeps_all_it_has():
    scores = torch.rand(4, 4, generator=torch.Generator().manual_seed(0))
    masks = pair_masks(torch.tensor([0, 0, 1, 2]))
    rows, positive, negative = everything(scores, *masks)
    assert rows.tolist() == [0, 1, 2, 3]
    assert torch.equal(positive, masks[0])
    assert torch.equal(negative, masks[1])
    assert torch.equal(triplet(scores[rows], positive, negative), triplet(scores, *masks))
