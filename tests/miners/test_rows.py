"""Single triplets as rows."""

import torch

from samekind.miners.rows import pair_rows, triplet_rows


def test_each_row_holds_its_positive_and_its_negative_alone():
    rows, positive, negative = triplet_rows(
        torch.tensor([2, 0, 2]), torch.tensor([1, 3, 0]), torch.tensor([3, 1, 3]), candidates=4
    )
    assert rows.tolist() == [2, 0, 2]
    assert positive.int().tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert negative.int().tolist() == [[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]]
    assert positive.dtype == negative.dtype == torch.bool


def test_pairs_without_a_rival_have_no_row():
    rivals = torch.tensor([[False, False, True], [False, False, False], [True, False, True]])
    rows, positive, negative = pair_rows(torch.tensor([0, 0, 4]), torch.tensor([1, 0, 1]), rivals)
    assert rows.tolist() == [0, 4]
    assert positive.tolist() == [[False, True, False]] * 2
    assert negative.tolist() == rivals[[0, 2]].tolist()
