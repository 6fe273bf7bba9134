"""Facts about a GPU that the kernels need."""

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

#: The oldest Triton that compiles the kernels; PyTorch before 2.10 brings an older one.
OLDEST_TRITON = (3, 6)


def has_triton() -> bool:
    """Whether Triton is installed, and new enough for the kernels."""
    try:
        import triton
    except ImportError:
        return False
    return tuple(int(number) for number in triton.__version__.split(".")[:2]) >= OLDEST_TRITON


def multiprocessors(device: torch.device) -> int:
    """How many programs run at a time; a few on a CPU, for Triton's interpreter."""
    properties: Any = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    return int(properties.multi_processor_count) if properties is not None else 4


def shared_memory(device: torch.device) -> int:
    """The bytes of shared memory for one program; 0 on a CPU, or if PyTorch does not know."""
    properties: Any = torch.cuda.get_device_properties(device) if device.type == "cuda" else None
    # Only for NVIDIA, and since PyTorch 2.6.
    return int(getattr(properties, "shared_memory_per_block_optin", 0))


def current_gpu(tensor: Tensor) -> AbstractContextManager[None]:
    """A context in which the tensor's GPU is the current one, where Triton launches; nothing for a CPU."""
    guard: AbstractContextManager[None] = torch.cuda.device_of(tensor)  # type: ignore[no-untyped-call]
    return guard
