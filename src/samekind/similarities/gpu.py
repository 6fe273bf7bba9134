"""What the kernels have to know of a GPU."""

from typing import Any

import torch


def multiprocessors(device: torch.device) -> int:
    """How many programs run at a time; on a CPU, where Triton's interpreter takes them in turn, a few."""
    properties: Any = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    return int(properties.multi_processor_count) if properties is not None else 4


def shared_memory(device: torch.device) -> int:
    """The bytes of shared memory that one program may have; a CPU has none."""
    properties: Any = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    return int(properties.shared_memory_per_block_optin) if properties is not None else 0
