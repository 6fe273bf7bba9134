"""What the kernels know about a device."""

import sys
from types import SimpleNamespace

import pytest
import torch

from samekind.similarities import PairsNetwork
from samekind.similarities.kernels.gpu import current_gpu, has_triton, multiprocessors, shared_memory
from samekind.similarities.kernels.pairs_kernel import has_kernel
from samekind.similarities.recomputed import Walk, walk_for


def test_a_processor_takes_programs_in_turn_and_has_no_shared_memory():
    assert multiprocessors(torch.device("cpu")) == 4
    assert shared_memory(torch.device("cpu")) == 0


def test_a_gpu_whose_shared_memory_nobody_knows_has_none(monkeypatch):
    """PyTorch tells it for NVIDIA alone, and since 2.6."""
    properties = SimpleNamespace(multi_processor_count=104)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    assert multiprocessors(torch.device("cuda")) == 104
    assert shared_memory(torch.device("cuda")) == 0
    half = SimpleNamespace(device=torch.device("cuda"), dtype=torch.bfloat16, shape=(3, 64))
    assert walk_for(half, 3) is Walk


@pytest.mark.parametrize(
    ("version", "new"), [("3.2.0", False), ("3.5.1+git0", False), ("3.6.0", True), ("3.10.0", True)]
)
def test_an_old_triton_counts_as_missing(monkeypatch, version, new):
    """PyTorch 2.6 brings Triton 3.2, in which the kernel for Hopper GPUs cannot even be imported."""
    monkeypatch.setitem(sys.modules, "triton", SimpleNamespace(__version__=version))
    assert has_triton() is new
    assert has_kernel(PairsNetwork(dimension=2), torch.device("cuda")) is new


def test_without_a_usable_triton_there_are_no_kernels(monkeypatch):
    properties = SimpleNamespace(multi_processor_count=132, shared_memory_per_block_optin=227 * 1024)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    half = SimpleNamespace(device=torch.device("cuda"), dtype=torch.bfloat16, shape=(3, 64))
    for triton in (None, SimpleNamespace(__version__="3.2.0")):
        monkeypatch.setitem(sys.modules, "triton", triton)  # None: importing it fails
        assert not has_triton()
        assert walk_for(half, 3) is Walk


def test_a_cpu_needs_no_current_device():
    with current_gpu(torch.zeros(1)):
        pass


@pytest.mark.device
def test_a_gpu_has_both():
    assert multiprocessors(torch.device("cuda")) > 1
    assert shared_memory(torch.device("cuda")) >= 48 * 1024


@pytest.mark.device
def test_the_gpu_of_a_tensor_is_current_while_it_lasts():
    last = torch.device("cuda", torch.cuda.device_count() - 1)
    before = torch.cuda.current_device()
    with current_gpu(torch.zeros(1, device=last)):
        assert torch.cuda.current_device() == last.index
    assert torch.cuda.current_device() == before
