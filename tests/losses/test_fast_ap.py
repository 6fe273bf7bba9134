"""FastAP against a loop over bins, and against the true average precision."""

import pytest
import torch
from sklearn.metrics import average_precision_score

from samekind.errors import SettingError
from samekind.losses import fast_ap, row_blocks
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(cosines, positive, negative, bins):
    """The paper's definition, in squared distances, one anchor at a time."""
    shares, width = [], 4 / bins
    for row, ahead, behind in zip(cosines.tolist(), positive, negative, strict=True):
        positives, negatives = ahead.nonzero()[:, 0].tolist(), behind.nonzero()[:, 0].tolist()
        if not positives or not negatives:
            shares.append(0.0)
            continue
        precision, reached, among = 0.0, 0.0, 0.0
        for node in range(bins + 1):
            pulse = {
                c: max(0.0, 1 - abs((2 - 2 * row[c]) - node * width) / width) for c in positives + negatives
            }
            here = sum(pulse[c] for c in positives)
            reached += here
            among += sum(pulse.values())
            if here:
                precision += here * reached / among
        shares.append(1 - precision / len(positives))
    return torch.tensor(shares, dtype=cosines.dtype)


def some_cosines(mask, seed=0):
    return 2 * torch.rand(mask.shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed)) - 1


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("bins", [1, 10, 25])
@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
def test_agrees_with_the_definition(masks, bins, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    cosines = some_cosines(masks[0])
    torch.testing.assert_close(fast_ap(cosines, *masks, bins=bins), by_hand(cosines, *masks, bins))


def test_with_narrow_bins_it_is_one_minus_average_precision():
    labels = torch.arange(30) % 4
    positive, negative = pair_masks(labels)
    # At the nodes of 2,000 bins, no two of a row in one.
    order = torch.rand(30, 2001, generator=torch.Generator().manual_seed(0)).argsort(1)[:, :30]
    cosines = 1 - order.double() / 1000
    others = ~torch.eye(30, dtype=torch.bool)
    expected = [
        1 - average_precision_score(positive[a][others[a]].numpy(), cosines[a][others[a]].numpy())
        for a in range(30)
    ]
    assert fast_ap(cosines, positive, negative, bins=2000).tolist() == pytest.approx(expected, abs=1e-6)


def test_a_right_order_costs_nothing_and_candidates_of_one_bin_are_tied():
    positive = torch.tensor([[True, False]])
    assert fast_ap(torch.tensor([[0.9, 0.1]]), positive, ~positive).item() < 1e-6
    assert fast_ap(torch.tensor([[0.6, 0.6]]), positive, ~positive).item() == pytest.approx(0.5)


def test_refuses_no_bins():
    with pytest.raises(SettingError, match="at least 1 bin, got 0"):
        fast_ap(torch.zeros(9, 9), *pair_masks(LABELS), bins=0)
