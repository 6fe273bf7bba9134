"""What the kernels are told of a device."""

from types import SimpleNamespace

import pytest
import torch

from samekind.similarities.gpu import current_gpu, multiprocessors, shared_memory
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


def test_a_processor_needs_not_be_made_current():
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
