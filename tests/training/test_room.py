"""How much a step keeps, counted by hand, and how many items that allows."""

import pytest
import torch
from torch import nn

from samekind.encoders import MLP, Views, WideResNet
from samekind.inference import embed
from samekind.training import build_space, room, train
from samekind.training.room import SHARE, free_memory, items_at_once, kept_for_gradient, within_memory


def test_what_is_kept_is_the_inputs_of_the_layers():
    """Two linear layers and a ReLU keep the items (4 numbers each) and the output of the ReLU (8)."""
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    assert kept_for_gradient(network, torch.zeros(3, 4)) == 3 * (4 + 8) * 4
    assert kept_for_gradient(network.requires_grad_(False), torch.zeros(3, 4)) == 0


def test_it_grows_with_the_items_and_with_their_size():
    network = WideResNet(depth=10, width=1, channels=1, batch_norm="train")
    one, two, large = (
        kept_for_gradient(network, torch.zeros(count, 1, side, side))
        for count, side in ((1, 16), (2, 16), (1, 32))
    )
    assert two == pytest.approx(2 * one, rel=0.1)
    assert large == pytest.approx(4 * one, rel=0.1)


def test_the_encoder_does_not_change_and_computing_again_hides_nothing():
    network = WideResNet(depth=10, width=1, channels=1, checkpointing=True).train()
    plain = WideResNet(depth=10, width=1, channels=1)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    x = torch.zeros(2, 1, 16, 16)
    assert kept_for_gradient(network, x) == kept_for_gradient(plain, x)
    assert all(torch.equal(before[name], tensor) for name, tensor in network.state_dict().items())
    assert network.checkpointing
    assert kept_for_gradient(Views(encoder=plain, size=64).eval(), x) == kept_for_gradient(plain, x)
    assert all(module.training for module in network.modules())


def test_as_many_as_fit_and_at_least_one():
    encoder = MLP(inputs=4, dimension=2, hidden=[8])
    item = kept_for_gradient(encoder, torch.zeros(2, 4)) / 2
    assert items_at_once(encoder, (4,), free=int(item * 100 / SHARE) + 1) == 100
    assert items_at_once(encoder, (4,), free=0) == 1
    assert items_at_once(encoder, (4,)) > 1000


@pytest.mark.parametrize(("most", "expected"), [("1000", 300), ("700", 0), ("max", None), (None, None)])
def test_the_limit_of_the_group_counts(tmp_path, monkeypatch, most, expected):
    monkeypatch.setattr(room, "MEMORY_OF_GROUP", tmp_path)
    if most is not None:
        (tmp_path / "memory.max").write_text(f"{most}\n")
        (tmp_path / "memory.current").write_text("700\n")
    free = free_memory(torch.device("cpu"))
    assert free == expected if expected is not None else free > 1 << 20


def test_a_run_is_given_parts_where_its_batches_do_not_fit(run, items, monkeypatch):
    assert within_memory(run, items, device="cpu") == run
    item = kept_for_gradient(build_space(run, items).encoder, torch.zeros(2, *items.shape)) / 2
    monkeypatch.setattr(room, "free_memory", lambda device: int(5 * item / SHARE) + 1)
    assert within_memory(run, items, device="cpu") == run.override(["batches.at_once=5"])
    chosen = run.override(["batches.at_once=3"])
    assert within_memory(chosen, items, device="cpu") == chosen


def test_a_run_goes_on_with_other_memory(run, items, validate, tmp_path):
    whole = train(run, items, folder=tmp_path, validate=validate)
    again = train(run.override(["batches.at_once=5"]), items, folder=tmp_path, validate=validate)
    assert torch.equal(embed(again, items.inputs), embed(whole, items.inputs))
