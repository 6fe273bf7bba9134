"""Blocks computed again: the same numbers, less kept for the backward pass, and nothing left behind."""

import copy

import pytest
import torch
from torch import nn

from samekind.encoders import Backbone
from samekind.encoders.foreign import Foreign
from samekind.encoders.recomputing import blocks_of, recomputing


class Block(nn.Module):
    """A residual block as other libraries have them, called with a keyword, activations in place."""

    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Dropout(0.3),
            nn.Conv2d(width, width, 3, padding=1),
        )

    def forward(self, x, *, scale=1.0):
        y = self.layers(x)
        y += x
        return scale * y


class Network(nn.Module):
    def __init__(self, width=4, depth=3):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3)
        self.act = nn.ReLU(inplace=True)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        x = self.act(self.stem(x))
        for block in self.blocks:
            x = block(x, scale=0.5)
        return self.norm(x)


class Inside(nn.Module):
    """A network that is all in one child, as the encoder of a vision transformer."""

    def __init__(self):
        super().__init__()
        self.encoder = Network()
        self.head = nn.Linear(4, 2)


def network(checkpointing):
    torch.manual_seed(0)
    return Foreign(Network(), feature_dimension=4, dimension=2, checkpointing=checkpointing).train()


def learned(encoder, x):
    """One pass there and back: the embeddings, the gradients, the statistics, and the bytes kept between."""
    chosen = {}

    def keep(tensor):
        chosen[tensor.data_ptr()] = tensor.nbytes
        return tensor

    torch.manual_seed(1)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        z = encoder(x)
    z.square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in encoder.named_parameters()}
    return z, gradients, dict(encoder.named_buffers()), sum(chosen.values())


def test_the_numbers_are_the_same_and_less_is_kept():
    x = torch.rand(4, 3, 12, 12, generator=torch.Generator().manual_seed(2))
    plain, again = (learned(network(value), x) for value in (False, True))
    assert torch.equal(plain[0], again[0])
    for actual, expected in zip(plain[1:3], again[1:3], strict=True):
        assert actual.keys() == expected.keys()
        for name, gradient in actual.items():
            torch.testing.assert_close(expected[name], gradient, msg=name)
    assert again[2]["module.blocks.0.layers.1.num_batches_tracked"] == 1  # moved once, not twice
    assert again[3] < 0.6 * plain[3]


def test_nothing_is_left_behind_in_the_module_or_its_copies():
    encoder = network(True)
    names = list(encoder.state_dict())
    z = encoder(torch.rand(2, 3, 12, 12))
    assert not any("forward" in module.__dict__ for module in encoder.modules())
    twin = copy.deepcopy(encoder.module)
    z.sum().backward()  # what it computes again, it computes after that
    assert list(encoder.state_dict()) == names
    nn.init.zeros_(twin.norm.weight)
    assert encoder.module.norm.weight.all()


def test_nor_after_a_pass_that_failed():
    encoder = network(True)
    with pytest.raises(RuntimeError):
        encoder(torch.rand(2, 5, 12, 12))
    assert not any("forward" in module.__dict__ for module in encoder.modules())


@pytest.mark.parametrize("fails", [False, True])
def test_a_block_keeps_a_forward_of_its_own(fails):
    """As the hooks and adapters of other libraries put there: the next pass would compute without."""
    encoder, x = network(True).eval(), torch.rand(2, 3, 12, 12)
    block = encoder.module.blocks[1]
    plain = block.forward
    own = block.forward = lambda x, **scaled: 2 * plain(x, **scaled)
    before = encoder(x).detach()
    if fails:
        with pytest.raises(RuntimeError):
            encoder(x[:, :1])
    else:
        encoder(x).sum().backward()
        assert block.layers[0].weight.grad.any()
    assert vars(block)["forward"] is own
    assert torch.equal(encoder(x), before)


@pytest.mark.parametrize("active", [True, False])
def test_without_gradients_or_unasked_nothing_is_recomputed(active):
    network = Network()
    with torch.set_grad_enabled(not active), recomputing(network, active=active):
        assert not any("forward" in module.__dict__ for module in network.modules())


def test_the_blocks_are_the_children_and_the_members_of_lists():
    network = Network(depth=2)
    assert list(blocks_of(network)) == [network.stem, *network.blocks, network.norm]
    inside = Inside()
    assert list(blocks_of(inside)) == [*blocks_of(inside.encoder), inside.head]
    assert list(blocks_of(nn.Sequential(inside.encoder))) == list(blocks_of(inside.encoder))
    assert list(blocks_of(nn.Linear(2, 2))) == []


@pytest.mark.parametrize("checkpointing", [True, False])
def test_it_is_compiled_in_one_piece(checkpointing):
    encoder, x = network(checkpointing).eval(), torch.rand(2, 3, 12, 12)
    compiled = torch.compile(encoder.forward, dynamic=False, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x), encoder(x))


@pytest.mark.usefixtures("timm")
def test_a_backbone_recomputes_too():
    encoder = Backbone(library="timm", network="tiny", checkpointing=True).train()
    encoder(torch.rand(2, 3, 8, 8)).sum().backward()
    assert encoder.module.norm.num_batches_tracked == 1
    assert encoder.module.stem.weight.grad is not None
