"""What can be said of launching the Hopper kernel without one; test_pairs_kernel_hopper.py asks one."""

import pytest
import torch

from samekind.similarities import on_hopper


def test_a_processor_is_not_a_hopper_gpu():
    assert not on_hopper.takes(torch.device("cpu"), hidden=64, depth=2, slope=0.1)


@pytest.mark.parametrize(
    ("hidden", "depth", "slope", "fits"),
    [(256, 2, 0.1, True), (257, 2, 0.1, False), (64, 1, 0.1, False), (64, 3, 1.5, False), (64, 3, 1.0, True)],
)
def test_which_networks_the_kernel_takes(monkeypatch, hidden, depth, slope, fits):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    device = torch.device("cuda")
    assert on_hopper.takes(device, hidden=hidden, depth=depth, slope=slope) is fits
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (10, 0))
    assert not on_hopper.takes(device, hidden=hidden, depth=depth, slope=slope)


def test_pieces_come_in_the_order_of_their_use():
    """Layer after layer, 64 outputs after 64 outputs, and of those 64 inputs after 64 inputs."""
    weights = torch.randn(3, 128, 128)
    pieces = on_hopper.in_pieces(weights).view(-1, 64, 64)
    number = 0
    for layer in range(3):
        for outputs in (0, 64):
            for inputs in (0, 64):
                piece = weights[layer, outputs : outputs + 64, inputs : inputs + 64]
                assert torch.equal(pieces[number], piece)
                number += 1
    assert number == len(pieces)
