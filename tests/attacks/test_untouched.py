"""The model is left as it was found, whatever happens inside."""

import pytest
import torch
from torch import nn

from samekind.attacks import untouched


def test_statistics_modes_gradients_and_random_state_come_back():
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(), nn.Linear(3, 2))
    model[1].eval()
    model[2].bias.requires_grad_(False)
    random, mean = torch.get_rng_state(), model[0].running_mean.clone()
    with pytest.raises(KeyError), untouched(model):  # noqa: PT012
        assert not any(module.training for module in model.modules())
        assert not any(parameter.requires_grad for parameter in model.parameters())
        torch.rand(3)
        model[0].train()
        model(torch.rand(8, 3))
        raise KeyError
    assert torch.equal(model[0].running_mean, mean)
    assert [module.training for module in model.modules()] == [True, True, False, True]
    assert [parameter.requires_grad for parameter in model.parameters()] == [True, True, True, False]
    assert torch.equal(torch.get_rng_state(), random)


def test_gradients_of_inputs_work_where_the_caller_has_none():
    model = nn.Linear(3, 2)
    for context in (torch.no_grad, torch.inference_mode):
        with context(), untouched(model):
            x = torch.rand(1, 3, requires_grad=True)
            assert model(x).requires_grad
