"""The launch of the Hopper kernel without such a GPU; test_pairs_kernel_hopper.py needs one."""

import contextlib
from importlib.util import find_spec

import pytest
import torch

from samekind.similarities.kernels import on_hopper

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")


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


def test_amd_counts_otherwise(monkeypatch):
    """An MI300 says that its capability is 9.4."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 4))
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert not on_hopper.takes(torch.device("cuda"), hidden=64, depth=2, slope=0.1)


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


@needs_triton
@pytest.mark.parametrize("dropout", [None, on_hopper.Dropout(torch.ones(128, dtype=torch.int32), -7, 99)])
def test_the_kernel_gets_each_thing_by_its_name_on_the_gpu_of_the_tensors(monkeypatch, dropout):
    from samekind.similarities.kernels import pairs_kernel_hopper as hopper

    names, seen, events = hopper.score_tiles.arg_names, {}, []

    class Kernel:
        def __getitem__(self, grid):
            events.append(grid)
            return lambda *given, num_warps: seen.update(zip(names, given, strict=True), num_warps=num_warps)

    @contextlib.contextmanager
    def device_of(tensor):
        events.append(tensor.device)
        yield
        events.append("done")

    monkeypatch.setattr(hopper, "score_tiles", Kernel())
    monkeypatch.setattr(torch.cuda, "device_of", device_of)
    rows, columns = torch.zeros(65, 128).half(), torch.zeros(70, 128).half()
    weights = on_hopper.in_pieces(torch.zeros(3, 128, 128).half())
    given = [torch.zeros(1) for _ in range(7)]
    on_hopper.score_tiles(
        rows, columns, weights, given, (0.1, 0.2, 0.3, 0.4), epilogue="scores", dropout=dropout
    )
    assert events == [rows.device, (4,), "done"]  # two strips of rows by two of columns
    assert seen["rows"] is rows
    assert seen["columns"].base is columns
    assert seen["weights"].base is weights
    tensors = ("bias", "last", "target", "row_labels", "column_labels", "slots", "errors")
    assert all(seen[name] is tensor for name, tensor in zip(tensors, given, strict=True))
    numbers = [seen[name] for name in ("n", "m", "slope", "offset", "scale", "threshold")]
    assert numbers == [65, 70, 0.1, 0.2, 0.3, 0.4]
    assert [seen[name] for name in ("PIECES", "LAYERS", "EPILOGUE", "UPPER")] == [2, 3, "scores", False]
    assert seen["DROPOUT"] is (dropout is not None)
    if dropout is not None:
        assert seen["factors"] is dropout.factors
        assert (seen["seed"], seen["dropped"]) == (-7, 99)
