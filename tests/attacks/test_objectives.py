"""What gradient attacks raise, recomputed by eye."""

import pytest
import torch

from samekind.attacks import cross_entropy, logit_ratio, margin

LOGITS = torch.tensor([[2.0, 1.0, 0.5, -1.0], [0.0, 3.0, 1.0, 2.0]])
TRUTH = torch.tensor([0, 3])


def test_values():
    assert margin(LOGITS, TRUTH).tolist() == [-1.0, 1.0]
    assert logit_ratio(LOGITS, TRUTH).tolist() == pytest.approx([-1.0 / 1.5, 1.0 / 2.0])
    expected = [-LOGITS[0].log_softmax(0)[0].item(), -LOGITS[1].log_softmax(0)[3].item()]
    assert cross_entropy(LOGITS, TRUTH).tolist() == pytest.approx(expected)


def test_the_ratio_knows_neither_shift_nor_scale():
    torch.testing.assert_close(logit_ratio(7 * LOGITS - 3, TRUTH), logit_ratio(LOGITS, TRUTH))


def test_two_outcomes_have_no_third():
    two = LOGITS[:, :2]
    assert torch.equal(logit_ratio(two, torch.tensor([0, 1])), margin(two, torch.tensor([0, 1])))
