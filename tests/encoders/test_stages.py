"""Named stages: what is applied in which order, and the same computed twice to save memory."""

import copy

import pytest
import torch
from torch import nn

from samekind.encoders import WideResNet
from samekind.encoders.stages import embedding_layer, last_map, maps_of, start_convolutions


class Small(nn.Module):
    """Two stages, the second of two modules."""

    def __init__(self, *, checkpointing=False):
        super().__init__()
        self.checkpointing = checkpointing
        self.first, self.second, self.norm = nn.Conv2d(1, 2, 1), nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3)
        self.embedding = nn.Linear(3, 2)

    def stages(self):
        return {"one": [self.first], "two": [self.second, self.norm], "embedding": [self.embedding]}


def test_maps_are_the_outputs_in_order_and_the_embedding_is_not_one():
    torch.manual_seed(0)
    network, x = Small().eval(), torch.rand(2, 1, 3, 3)
    maps = maps_of(network, x)
    assert list(maps) == ["one", "two"]
    assert torch.equal(maps["one"], network.first(x))
    assert torch.equal(maps["two"], network.norm(network.second(network.first(x))))
    assert torch.equal(last_map(network, x), maps["two"])


def test_there_is_no_embedding_layer_for_the_features_themselves():
    assert isinstance(embedding_layer(8, None), nn.Identity)
    assert isinstance(embedding_layer(8, 8), nn.Identity)
    layer = embedding_layer(8, 3)
    assert (layer.in_features, layer.out_features) == (8, 3)


def trained_once(encoder, x):
    """Output, gradients and buffers after one step forward and back; dropout draws the same each time."""
    torch.manual_seed(1)
    output = encoder(x)
    output.square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in encoder.named_parameters()}
    return output.detach(), gradients, dict(encoder.named_buffers())


def test_computing_stages_again_changes_nothing_but_the_memory():
    torch.manual_seed(0)
    plain = WideResNet(depth=10, width=1, dropout=0.3)
    again = WideResNet(depth=10, width=1, dropout=0.3, checkpointing=True)
    again.load_state_dict(plain.state_dict())
    x = torch.rand(4, 3, 8, 8)
    for expected, actual in zip(trained_once(plain, x), trained_once(again, x), strict=True):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)
    assert again.bn1.num_batches_tracked == 1
    assert all(module.momentum == 0.1 for module in again.modules() if isinstance(module, nn.BatchNorm2d))


def test_a_compiled_network_computes_its_stages_again_too():
    torch.manual_seed(0)
    plain = WideResNet(depth=10, width=1, dropout=0.3)
    again = WideResNet(depth=10, width=1, dropout=0.3, checkpointing=True)
    again.load_state_dict(plain.state_dict())
    again.forward = torch.compile(again.forward, backend="aot_eager", dynamic=False)
    x = torch.rand(4, 3, 8, 8)
    for expected, actual in zip(trained_once(plain, x), trained_once(again, x), strict=True):
        torch.testing.assert_close(actual, expected)
    assert again.bn1.num_batches_tracked == 1


def kept_for_the_backward_pass(encoder, x):
    sizes = []

    def count(tensor):
        if tensor.grad_fn is not None:  # not a weight, nor the input
            sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        encoder(x)
    return sum(sizes)


def test_less_is_kept_for_the_backward_pass():
    x = torch.rand(2, 3, 8, 8)
    chosen = {
        value: kept_for_the_backward_pass(WideResNet(depth=10, width=1, checkpointing=value), x)
        for value in (False, True)
    }
    assert chosen[True] < 0.2 * chosen[False]


@pytest.mark.parametrize("mode", [True, False])
def test_without_gradient_nothing_is_computed_again(mode):
    network = Small(checkpointing=True).train(mode)
    plain = copy.deepcopy(network)
    plain.checkpointing = False
    x = torch.rand(2, 1, 3, 3)
    with torch.no_grad():
        assert torch.equal(last_map(network, x), last_map(plain, x))


def test_statistics_are_put_back_when_the_second_pass_fails():
    network = Small(checkpointing=True)
    output = last_map(network, torch.rand(2, 1, 3, 3))
    network.norm.register_forward_pre_hook(lambda *_: (_ for _ in ()).throw(ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        output.sum().backward()
    assert network.norm.momentum == 0.1
    assert network.norm.num_batches_tracked == 1


def test_convolutions_start_with_the_variance_of_the_paper():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(64, 64, 3))
    start_convolutions(network)
    assert network[0].weight.std().item() == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.02)
    assert network[0].weight.mean().item() == pytest.approx(0, abs=1e-3)
