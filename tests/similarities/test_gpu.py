"""What the kernels are told of a device."""

import pytest
import torch

from samekind.similarities.gpu import multiprocessors, shared_memory


def test_a_processor_takes_programs_in_turn_and_has_no_shared_memory():
    assert multiprocessors(torch.device("cpu")) == 4
    assert shared_memory(torch.device("cpu")) == 0


@pytest.mark.device
def test_a_gpu_has_both():
    assert multiprocessors(torch.device("cuda")) > 1
    assert shared_memory(torch.device("cuda")) >= 48 * 1024
