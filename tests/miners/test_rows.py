"""Single triplets as rows."""

import torch

from samekind.miners.rows import triplet_rows


def test_each_row_holds_its_positive_and_its_negative_alone():
    rows, positive, negative = triplet_rows(
        torch.tensor([2, 0, 2]), torch.tensor([1, 3, 0]), torch.tensor([3, 1, 3]), candidates=4
    )
    assert rows.tolist() == [2, 0, 2]
    assert positive.int().tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert negative.int().tolist() == [[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert positive.dtype == negative.dtype == torch.bool
