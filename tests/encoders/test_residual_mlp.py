"""ResidualMLP: hardly any effect at first, and then x + B relu(A x + a)."""

import pytest
import torch

from samekind.encoders import ResidualMLP
from samekind.errors import SettingError


def test_begins_nearly_as_its_input():
    x = torch.randn(4, 3, 2)
    torch.testing.assert_close(ResidualMLP(inputs=6)(x), x.flatten(1), atol=0.01, rtol=0)


def test_agrees_with_matrix_products():
    torch.manual_seed(0)
    encoder, x = ResidualMLP(inputs=5, width=7), torch.randn(6, 5)
    for weight in encoder.parameters():
        torch.nn.init.normal_(weight)
    first, _, _, last = encoder.layers
    by_hand = x + (x @ first.weight.T + first.bias).clamp(min=0) @ last.weight.T
    torch.testing.assert_close(encoder(x), by_hand)


@pytest.mark.parametrize("settings", [{"width": 0}, {"dropout": 1.0}])
def test_refuses_impossible_settings(settings):
    with pytest.raises(SettingError):
        ResidualMLP(inputs=4, **settings)
