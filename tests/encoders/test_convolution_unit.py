"""Convolution, batch normalisation, ReLU."""

import torch
import torch.nn.functional as F

from samekind.encoders.convolution_unit import ConvolutionUnit


def test_is_convolution_then_normalisation_then_relu():
    torch.manual_seed(0)
    unit, x = ConvolutionUnit(3, 4, (1, 3), padding=(0, 1), bias=True, epsilon=0.5), torch.randn(5, 3, 6, 6)
    inner = F.conv2d(x, unit.conv.weight, unit.conv.bias, padding=(0, 1))
    mean, variance = inner.mean((0, 2, 3)), inner.var((0, 2, 3), unbiased=False)
    normalised = (inner - mean[:, None, None]) / (variance[:, None, None] + 0.5).sqrt()
    torch.testing.assert_close(unit(x), F.relu(normalised), atol=1e-5, rtol=1e-4)


def test_has_no_bias_unless_asked():
    assert ConvolutionUnit(3, 4, 1).conv.bias is None
    assert ConvolutionUnit(3, 4, 3, stride=2).conv.stride == (2, 2)
