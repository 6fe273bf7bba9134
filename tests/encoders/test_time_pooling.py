"""Pooling over time: only real frames count."""

import pytest
import torch

from samekind.encoders.time_pooling import AttentivePooling, expect_frames, masked, statistics
from samekind.errors import DataError


def test_statistics_are_mean_and_deviation_of_the_real_frames():
    x, lengths = torch.randn(3, 4, 9), torch.tensor([9, 5, 1])
    result = statistics(x, lengths)
    for row, length in enumerate(lengths.tolist()):
        real = x[row, :, :length]
        torch.testing.assert_close(result[row, :4], real.mean(1))
        torch.testing.assert_close(result[row, 4:], real.std(1, correction=0), atol=2e-4, rtol=0)


def test_one_frame_has_a_finite_gradient():
    x = torch.randn(1, 3, 1, requires_grad=True)
    statistics(x, torch.tensor([1])).sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("context", [False, True])
def test_equal_attention_is_statistics_pooling(context):
    pool = AttentivePooling(channels=4, hidden=5, context=context).eval()
    torch.nn.init.zeros_(pool.attention[-1].weight)
    x, lengths = torch.randn(2, 4, 7), torch.tensor([7, 3])
    torch.testing.assert_close(pool(x, lengths), statistics(x, lengths), atol=1e-5, rtol=1e-4)


def test_attention_sees_each_frame_beside_mean_and_deviation_of_the_whole_sound():
    pool = AttentivePooling(channels=4, hidden=5).eval()
    x, lengths = torch.randn(3, 4, 7), torch.tensor([7, 3, 1])
    for row, length in enumerate(lengths.tolist()):
        real = x[row : row + 1, :, :length]
        whole = statistics(real, lengths[row : row + 1])[..., None].expand(-1, -1, length)
        weights = pool.attention(torch.cat([real, whole], dim=1)).softmax(-1)
        expected = statistics(real, lengths[row : row + 1], weights)
        torch.testing.assert_close(pool(x, lengths)[row : row + 1], expected, atol=1e-5, rtol=1e-4)


def test_padding_becomes_zero_and_what_has_no_frame_is_refused():
    x = torch.full((2, 3, 4), torch.nan)
    x[0, :, :2], x[1] = 1.0, 1.0
    values, lengths = expect_frames(x, 3)
    assert lengths.tolist() == [2, 4]
    assert torch.equal(values, masked(torch.ones(2, 3, 4), lengths))
    for wrong in (torch.zeros(2, 4, 4), torch.zeros(2, 3), torch.full((1, 3, 4), torch.nan)):
        with pytest.raises(DataError):
            expect_frames(wrong, 3)
