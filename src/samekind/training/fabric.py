"""Lightning Fabric, under whichever name it is installed, on one device."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

from samekind.errors import SettingError

try:
    from lightning_fabric import Fabric
except ImportError:  # the whole of Lightning brings the same Fabric along
    from lightning.fabric import Fabric  # type: ignore[no-redef]

__all__ = ["Fabric", "current", "launch"]

Precision = Literal["auto", "32-true", "bf16-mixed", "16-mixed"]
DEVICES = ("auto", "cpu", "cuda", "mps")


def launch(device: str, precision: Precision) -> Fabric:
    """A Fabric on one device. Precision ``"auto"`` is bfloat16 where a GPU has it, else float32."""
    accelerator, colon, number = device.partition(":")
    if accelerator not in DEVICES or (colon and (accelerator != "cuda" or not number.isdecimal())):
        raise SettingError(f'expected a device {", ".join(DEVICES)} or "cuda:1", got "{device}"')
    if accelerator == "auto":
        accelerator = "cuda" if torch.cuda.is_available() else "cpu"
    if accelerator == "cuda" and not torch.cuda.is_available():
        raise SettingError("no CUDA device is available here; use --device cpu")
    if number and int(number) >= torch.cuda.device_count():
        raise SettingError(f'there are {torch.cuda.device_count()} CUDA devices, from 0 on; got "{device}"')
    if accelerator == "mps" and not torch.backends.mps.is_available():
        raise SettingError("no MPS device is available here; use --device cpu")
    if precision == "auto":
        precision = "bf16-mixed" if accelerator == "cuda" and torch.cuda.is_bf16_supported() else "32-true"
    if precision == "16-mixed" and accelerator == "cpu":
        raise SettingError("precision 16-mixed needs a GPU; use bf16-mixed or 32-true on the CPU")
    chosen = [int(number)] if number else 1
    return Fabric(accelerator=accelerator, devices=chosen, precision=precision)


def current(device: torch.device) -> AbstractContextManager[object]:
    """Within it that GPU is the current one, which Fabric sets and never resets."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
