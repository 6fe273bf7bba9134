"""A launch gives the requested device, or an error that says why not."""

import pytest
import torch

from samekind.errors import SettingError
from samekind.training.fabric import current, launch

without_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")


@pytest.mark.parametrize("device", ["cpu", pytest.param("auto", marks=without_cuda)])
def test_the_cpu_in_full_precision(device):
    fabric = launch(device, "auto")
    assert fabric.device == torch.device("cpu")
    assert fabric.world_size == 1
    assert fabric.strategy.precision.precision == "32-true"


def test_a_precision_that_is_asked_for_is_given():
    assert launch("cpu", "bf16-mixed").strategy.precision.precision == "bf16-mixed"


def test_half_precision_needs_a_gpu():
    with pytest.raises(SettingError, match="16-mixed needs a GPU; use bf16-mixed or 32-true"):
        launch("cpu", "16-mixed")


@pytest.mark.parametrize("device", ["tpu", "", "gpu", "cpu:0", "cuda:", "cuda:one", "cuda:-1", "auto:1"])
def test_an_unknown_device_is_refused_with_the_known_ones(device):
    with pytest.raises(
        SettingError, match=f'expected a device auto, cpu, cuda, mps or "cuda:1", got "{device}"'
    ):
        launch(device, "auto")


@without_cuda
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:3"])
def test_refuses_a_missing_gpu(device):
    with pytest.raises(SettingError, match="no CUDA device is available here; use --device cpu"):
        launch(device, "auto")


def test_a_number_beyond_the_last_gpu_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(SettingError, match='there are 2 CUDA devices, from 0 on; got "cuda:2"'):
        launch("cuda:2", "auto")


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="there is an MPS device here")
def test_refuses_a_missing_apple_gpu():
    with pytest.raises(SettingError, match="no MPS device is available here; use --device cpu"):
        launch("mps", "auto")


def test_a_gpu_is_the_current_one_for_a_while_and_other_devices_need_not_be(monkeypatch):
    numbers = [0]

    def exchange(number):
        before, numbers[0] = numbers[0], number
        return before

    monkeypatch.setattr(torch.cuda, "_exchange_device", exchange)
    monkeypatch.setattr(torch.cuda, "_maybe_exchange_device", exchange)
    with current(torch.device("cuda", 1)):
        assert numbers == [1]
        numbers[0] = 3  # as Fabric sets it, and nobody takes it back
    assert numbers == [0]
    for device in ("cpu", "mps"):
        with current(torch.device(device)):
            assert numbers == [0]


def test_a_launch_draws_no_random_number():
    before = torch.get_rng_state()
    launch("cpu", "auto")
    assert torch.equal(torch.get_rng_state(), before)
