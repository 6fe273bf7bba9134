"""The MLP against matrix products."""

import pytest
import torch

from samekind.encoders import MLP
from samekind.errors import SettingError


def by_hand(encoder, x):
    weights = [parameter for name, parameter in encoder.named_parameters() if name.endswith("weight")]
    biases = [parameter for name, parameter in encoder.named_parameters() if name.endswith("bias")]
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        x = (x @ weight.T + bias).clamp(min=0)
    return x @ weights[-1].T + biases[-1]


@pytest.mark.parametrize("hidden", [(), (5,), [7, 6, 5]])
def test_agrees_with_matrix_products(hidden):
    torch.manual_seed(0)
    encoder, x = MLP(inputs=4, dimension=3, hidden=hidden), torch.randn(6, 4)
    torch.testing.assert_close(encoder(x), by_hand(encoder, x))
    assert encoder.features(x).shape == (6, [4, *hidden][-1])


def test_flattens_what_it_gets():
    encoder, x = MLP(inputs=12), torch.rand(5, 3, 2, 2)
    torch.testing.assert_close(encoder(x), encoder(x.flatten(1)))


def test_keeps_the_hidden_sizes_as_they_were_given():
    assert MLP(inputs=4, hidden=[7, 6]).hidden == [7, 6]
    assert MLP(inputs=4).hidden == (256, 256)


def test_dropout_is_for_training_only():
    torch.manual_seed(0)
    encoder, x = MLP(inputs=4, dropout=0.5), torch.rand(5, 4)
    assert not torch.equal(encoder(x), encoder(x))
    encoder.eval()
    assert torch.equal(encoder(x), encoder(x))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"hidden": [4, 0]}, r"\[4, 0\]"), ({"dropout": 1.0}, "got 1"), ({"dropout": -0.1}, "got -0.1")],
)
def test_refuses_impossible_settings(wrong, says):
    with pytest.raises(SettingError, match=says):
        MLP(inputs=4, **wrong)


def test_a_list_that_changes_later_changes_nothing_here():
    sizes = [7, 6]
    encoder = MLP(inputs=4, hidden=sizes)
    sizes.append(5)
    assert encoder.hidden == [7, 6]
