"""Probabilities at a temperature: against the plain formula, in the order there was, and in any precision."""

import math

import pytest
import torch

from samekind.decisions import Temperature, mixed

LOGITS = 4 * torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.double)


def at(value):
    return Temperature(value, "made up", 40)


@pytest.mark.parametrize("value", [0.1, 1.0, 7.0])
def test_they_are_the_softmax_of_logit_over_temperature(value):
    result = at(value).probabilities(LOGITS[0])
    for row, chances in zip(LOGITS[0].tolist(), result.tolist(), strict=True):
        powers = [math.exp(entry / value) for entry in row]
        assert chances == pytest.approx([power / sum(powers) for power in powers])
    assert torch.equal(result.argsort(1), LOGITS[0].argsort(1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("value", [1e-9, 1e9])
def test_extreme_temperatures_are_numbers_in_any_precision(dtype, value):
    logits = torch.tensor([[3e4, -3e4, 2e4]], dtype=dtype)
    result = at(value).probabilities(logits)
    assert result.dtype == dtype
    expected = [1.0, 0.0, 0.0] if value < 1 else [1 / 3] * 3
    torch.testing.assert_close(result[0].float(), torch.tensor(expected), atol=1e-2, rtol=0)


def test_the_gradient_is_that_of_the_plain_formula():
    one, other = (LOGITS[0].clone().requires_grad_() for _ in range(2))
    at(2.0).probabilities(one)[:, 0].sum().backward()
    (other / 2).softmax(-1)[:, 0].sum().backward()
    torch.testing.assert_close(one.grad, other.grad)


def test_the_mixture_is_the_logarithm_of_the_mean_probability():
    torch.testing.assert_close(mixed(LOGITS), LOGITS.softmax(-1).mean(0).log())
    torch.testing.assert_close(mixed(LOGITS[:1]), LOGITS[0].log_softmax(-1))


def test_the_mixture_is_finite_where_the_probability_is_nothing():
    logits = torch.tensor([[[0.0, -1000.0]], [[0.0, -2000.0]]])
    assert float(logits.softmax(-1).mean(0)[0, 1]) == 0
    assert mixed(logits).tolist()[0] == pytest.approx([0.0, -1000 - math.log(2)])
